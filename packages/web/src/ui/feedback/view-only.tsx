import { useMessages } from '../../i18n/language.tsx'
import { KeyIcon } from '../icons.tsx'
import { EmptyState } from './empty-state.tsx'

/** Replaces a form that the user's level does not allow to submit. */
export function ViewOnly() {
  const t = useMessages()
  return <EmptyState Icon={KeyIcon} title={t.common.viewOnly} text={t.common.viewOnlyText} />
}
