import { routes } from '@halyard/contract'
import { Alert, Badge, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { pollMilliseconds } from '../../services/polling.ts'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import type { ConfiguredProps } from '../plugin-tabs.ts'
import { JobFieldInput } from './job-field.tsx'
import { type JobField, type PublicJob, payloadOf, readJobs, startOf, validatePayload } from './job-form.ts'

/** Jobs that a user can start, and the queue. */
export function JobsTab(props: ConfiguredProps) {
  const t = useMessages()
  const jobs = readJobs(props.plugin)
  return (
    <Stack gap="xl">
      <section>
        <Title order={2} mb="sm">
          {t.plugins.startJobs}
        </Title>
        {!props.config.enabled && <Alert color="gray">{t.plugins.jobsNeedOn}</Alert>}
        {jobs.length === 0 ? (
          <Text size="sm">{t.plugins.noPublicJobs}</Text>
        ) : (
          <Stack>
            {jobs.map(job => (
              <JobForm key={job.name} {...props} job={job} />
            ))}
          </Stack>
        )}
      </section>
      <section>
        <Title order={2} mb="sm">
          {t.plugins.queuedJobs}
        </Title>
        <QueuedJobs {...props} />
      </section>
    </Stack>
  )
}

function JobForm({ job, config, projectId, plugin, isAdmin }: ConfiguredProps & { job: PublicJob }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [values, setValues] = useState(() => startOf(job))
  const [hasTried, setHasTried] = useState(false)
  const errors = validatePayload(job, values)
  const start = useMutation({
    mutationFn: () =>
      call(routes.pluginConfigs.job, {
        params: { project_id: projectId, id: String(config.id) },
        body: { job: { type: job.name, payload: payloadOf(job, values) } },
      }),
    onSuccess: async () => {
      notify.success({ message: t.plugins.jobStarted(job.name) })
      setHasTried(false)
      await queries.invalidateQueries({ queryKey: ['plugin-jobs', projectId, config.id] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setHasTried(true)
    if (errors.size === 0) start.mutate()
  }
  const errorOf = ({ key }: JobField) => {
    const error = hasTried ? errors.get(key) : undefined
    return error && t.plugins.settingErrors[error]
  }
  return (
    <Paper withBorder p="md" radius="lg" component="form" onSubmit={submit} noValidate maw={560}>
      <Stack gap="sm">
        <Title order={3}>{job.name}</Title>
        <ProblemAlert error={start.error} />
        {job.fields.map(field => (
          <JobFieldInput
            key={field.key}
            field={field}
            value={values[field.key]}
            error={errorOf(field)}
            onChange={value => setValues(old => ({ ...old, [field.key]: value }))}
          />
        ))}
        <Group>
          <Button
            type="submit"
            size="xs"
            loading={start.isPending}
            disabled={!config.enabled || !isAdmin}
            aria-label={t.plugins.runNamed(job.name, plugin.name)}
          >
            {t.plugins.run}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

function QueuedJobs({ config, projectId }: ConfiguredProps) {
  const t = useMessages()
  const { moment, count } = useFormats()
  const call = useCall()
  const jobs = useQuery({
    queryKey: ['plugin-jobs', projectId, config.id],
    queryFn: ({ signal }) =>
      call(routes.pluginConfigs.jobs, { params: { project_id: projectId, id: String(config.id) }, signal }),
    refetchInterval: pollMilliseconds,
  })
  return (
    <Loaded query={jobs}>
      {({ results, count: total }) =>
        total === 0 ? (
          <Text size="sm">{t.plugins.noQueuedJobs}</Text>
        ) : (
          <Stack gap="xs">
            <Text size="sm" c="dimmed" role="status">
              {t.plugins.queuedCount(count(total), total)}
            </Text>
            <DataTable
              label={t.plugins.queuedJobs}
              head={[t.plugins.job, t.plugins.state, t.plugins.due, t.plugins.attempts]}
              rows={results.map(job => ({
                key: job.id,
                cells: [
                  job.kind === 'flag_change' ? t.plugins.flagChangeJob : job.name,
                  <Badge key="state" variant="light" color={job.state === 'running' ? 'green' : 'gray'}>
                    {t.plugins.jobStates[job.attempts > 0 && job.state === 'waiting' ? 'again' : job.state]}
                  </Badge>,
                  moment(job.run_at),
                  count(job.attempts),
                ],
              }))}
            />
          </Stack>
        )
      }
    </Loaded>
  )
}
