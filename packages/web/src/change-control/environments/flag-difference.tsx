import { type FlagAcrossEnvironments, routes } from '@halyard/contract'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { differencesOf } from '../../flags/copies/copy-differences.ts'
import { SideBySide } from '../../flags/environments/side-by-side.tsx'
import { flagKey } from '../../flags/flag-cache.ts'
import { useFlagKeys } from '../../flags/use-flag-keys.ts'
import { useWording } from '../../flags/use-wording.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'

interface Props {
  row: FlagAcrossEnvironments
  from: number
  to: number
  names: { readonly from: string; readonly to: string }
}

/** What differs between two environments, field by field: what would be replaced, and with what. */
export function FlagDifference({ row, from, to, names }: Props) {
  const t = useMessages()
  const source = useSide(row, from)
  const target = useSide(row, to)
  if (!source.isThere) return <Text size="sm">{t.environments.missingIn(names.from)}</Text>
  if (!target.isThere) return <Text size="sm">{t.environments.missingIn(names.to)}</Text>
  const flags = source.flag.data && target.flag.data ? { mine: source.flag.data, theirs: target.flag.data } : undefined
  return (
    <Loaded query={{ ...source.flag, data: flags, error: source.flag.error ?? target.flag.error }}>
      {({ mine, theirs }) => {
        const changes = differencesOf(
          { flag: theirs, wording: target.wording },
          { flag: mine, wording: source.wording },
        )
        return changes.length === 0 ? (
          <Text size="sm">{t.environments.sameIn(names.from, names.to)}</Text>
        ) : (
          <SideBySide
            changes={changes}
            before={names.to}
            after={names.from}
            wording={source.wording}
            wordingBefore={target.wording}
          />
        )
      }}
    </Loaded>
  )
}

const noProject = { group_types: {} }

function useSide(row: FlagAcrossEnvironments, projectId: number) {
  const call = useCall()
  const id = String(projectId)
  const flagId = row.environments.find(({ project }) => project === projectId)?.flag_id ?? null
  const flag = useQuery({
    queryKey: flagKey(id, flagId ?? 0),
    queryFn: ({ signal }) => call(routes.flags.get, { params: { project_id: id, id: String(flagId) }, signal }),
    enabled: flagId !== null,
  })
  const project = useProject(id) ?? noProject
  const wording = useWording({ project, flags: useFlagKeys(id, flag.data?.filters), cohorts: useCohorts(id) })
  return { flag, wording, isThere: flagId !== null }
}
