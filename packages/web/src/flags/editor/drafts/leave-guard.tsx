import { useBlocker } from '@tanstack/react-router'
import { useMessages } from '../../../i18n/language.tsx'
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx'

interface Props {
  isChanged: boolean
  onDiscard: () => void
}

/** Asks before an unsaved edit is left behind. The tabs of the same page are not left. */
export function LeaveGuard({ isChanged, onDiscard }: Props) {
  const t = useMessages()
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && next.pathname !== current.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      isOpen={leaving.status === 'blocked'}
      question={t.editor.leaveQuestion}
      detail={t.editor.leaveDetail}
      label={t.editor.discard}
      cancelLabel={t.editor.keepEditing}
      onConfirm={() => {
        onDiscard()
        leaving.proceed?.()
      }}
      onClose={() => leaving.reset?.()}
    />
  )
}
