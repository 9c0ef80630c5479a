import { type FlagVersion, routes } from '@halyard/contract'
import { Badge, Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useApiQuery } from '../../services/use-api-query.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { useWording } from '../use-wording.ts'
import { ChangeList, type FieldChange } from './change-list.tsx'
import { RestoreVersion } from './restore-version.tsx'
import { useVersionDifference } from './use-version-difference.ts'

const versionsMax = '200'

/** All versions of the flag: compare any two, restore any. */
export function Versions(props: TabProps) {
  const { flag, project } = props
  const params = { project_id: String(project.id), id: String(flag.id) }
  const versions = useApiQuery(
    ['flag-history', params.project_id, params.id, 'versions', flag.version],
    routes.flagVersions.list,
    { params, query: { limit: versionsMax } },
  )
  return <Loaded query={versions}>{({ results }) => <Compare {...props} versions={results} />}</Loaded>
}

function Compare({ versions, ...props }: TabProps & { versions: readonly FlagVersion[] }) {
  const { flag, project } = props
  const t = useMessages()
  const { moment } = useFormats()
  const wording = useWording(props)
  const params = { project_id: String(project.id), id: String(flag.id) }
  const [to, setTo] = useState(versions[0]?.version ?? flag.version)
  const [from, setFrom] = useState(versions[1]?.version ?? to)
  const compared = useVersionDifference({ params, from, to })
  const [restoring, setRestoring] = useState<FlagVersion>()
  const options = versions.map(({ version, created_at, created_by }) => ({
    value: String(version),
    label: `${t.versions.version(version)} · ${moment(created_at)}${created_by ? ` · ${created_by.first_name}` : ''}`,
  }))
  return (
    <Stack>
      <Group align="flex-end">
        <NativeSelect
          label={t.versions.from}
          value={String(from)}
          onChange={event => setFrom(Number(event.currentTarget.value))}
          data={options}
        />
        <NativeSelect
          label={t.versions.to}
          value={String(to)}
          onChange={event => setTo(Number(event.currentTarget.value))}
          data={options}
        />
      </Group>
      <Loaded query={compared}>
        {({ changes }) =>
          changes.length === 0 || from === to ? (
            <Text size="sm">{t.versions.same}</Text>
          ) : (
            <ChangeList
              changes={changes.filter((change): change is typeof change & FieldChange => change.field !== null)}
              wording={wording}
            />
          )
        }
      </Loaded>
      {(compared.isPending ? [] : versions).map(version => (
        <Paper key={version.version} withBorder p="sm" radius="lg">
          <Group justify="space-between">
            <Text size="sm">
              <b>{t.versions.version(version.version)}</b> · <RelativeTime instant={version.created_at} />
              {version.created_by && ` · ${version.created_by.first_name}`}
            </Text>
            {version.is_current ? (
              <Badge variant="light" color="green">
                {t.versions.current}
              </Badge>
            ) : (
              flag.can_edit && (
                <Button variant="default" size="compact-sm" onClick={() => setRestoring(version)}>
                  {t.versions.restore(version.version)}
                </Button>
              )
            )}
          </Group>
        </Paper>
      ))}
      {restoring && <RestoreVersion {...props} version={restoring} onClose={() => setRestoring(undefined)} />}
    </Stack>
  )
}
