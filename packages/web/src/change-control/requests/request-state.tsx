import { Badge } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

const colors: Readonly<Record<string, string>> = {
  pending: 'indigo',
  approved: 'teal',
  applied: 'green',
  rejected: 'red',
  failed: 'red',
  conflicted: 'yellow',
}

interface Props {
  state: string
  isEmergency: boolean
}

export function RequestState({ state, isEmergency }: Props) {
  const t = useMessages()
  const names: Readonly<Record<string, string>> = t.requests.states
  return (
    <>
      <Badge variant="light" color={colors[state] ?? 'gray'}>
        {names[state] ?? state}
      </Badge>
      {isEmergency && (
        <Badge variant="light" color="red" ml={4}>
          {t.requests.emergency}
        </Badge>
      )}
    </>
  )
}
