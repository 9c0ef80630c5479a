import type { ChangeRequestDetail, Flag } from '@halyard/contract'
import { Alert, Text } from '@mantine/core'
import type { Wording } from '../../flags/flag-sentences.ts'
import { ChangeList, type FieldChange } from '../../flags/history/change-list.tsx'
import { useVersionDifference } from '../../flags/history/use-version-difference.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { quietFields } from './request-changes.ts'

interface Props {
  projectId: string
  request: ChangeRequestDetail
  flag: Flag
  wording: Wording
}

/** What others have changed in the flag since the request was opened or rebased. */
export function ChangedSince(props: Props) {
  const { base_version } = props.request
  const isChanged = base_version !== null && props.flag.version > base_version
  return isChanged && <Difference {...props} from={base_version} />
}

function Difference({ projectId, flag, wording, from }: Props & { from: number }) {
  const t = useMessages()
  const { moment } = useFormats()
  const params = { project_id: projectId, id: String(flag.id) }
  const { data } = useVersionDifference({ params, from, to: flag.version })
  if (!data) return null
  const changes = data.changes.filter(
    (change): change is typeof change & FieldChange => change.field !== null && !quietFields.has(change.field),
  )
  const { created_by: author } = data
  return (
    <Alert color="yellow" title={t.requests.changedSince(flag.version - from)}>
      <Text size="sm" mb={changes.length > 0 ? 'sm' : 0}>
        {author
          ? t.requests.lastChangedBy(author.first_name || author.email, moment(data.created_at))
          : t.requests.lastChangedAutomatically(moment(data.created_at))}
      </Text>
      <ChangeList changes={changes} wording={wording} />
    </Alert>
  )
}
