import { type AuditEntry, routes, urlOf } from '@halyard/contract'
import { Accordion, Button, Code, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { request } from '../api/client.ts'
import { useMessages } from '../i18n/language.tsx'
import { useMembers } from '../services/member-queries.ts'
import { useCall, useCredentials } from '../services/services.ts'
import { downloadText } from '../ui/data/csv.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { LoadMoreList } from '../ui/data/load-more-list.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { TextField } from '../ui/form/text-field.tsx'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'
import { auditSentence, auditSubject } from './audit-sentence.ts'

const pageSize = '50'
const noFilter = { search: '', user: '', object: '', date_from: '', date_to: '' }
type Filter = typeof noFilter

/** The audit log of an organization. It is not refreshed automatically: every read leaves an entry. */
export function AuditPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/audit' })
  const [filter, setFilter] = useState(noFilter)
  const log = useAuditLog(organizationId, filter)
  return (
    <Page title={t.audit.title} intro={t.audit.intro}>
      <Stack>
        <Group gap="sm">
          <ExportButton organizationId={organizationId} format="jsonl" />
          <ExportButton organizationId={organizationId} format="cef" />
          <Text size="sm" c="dimmed">
            {t.audit.verify} <Code>halyard audit verify audit-log.jsonl</Code>
          </Text>
        </Group>
        <FilterForm organizationId={organizationId} onFilter={setFilter} />
        <LoadMoreList query={log} empty={<EmptyState title={t.audit.none} text={t.audit.noneText} />}>
          {entry => <Entry entry={entry} />}
        </LoadMoreList>
      </Stack>
    </Page>
  )
}

function useAuditLog(organizationId: string, filter: Filter) {
  const call = useCall()
  return useInfiniteQuery({
    queryKey: ['audit', organizationId, filter],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filter, limit: pageSize, before: pageParam }
      const sent = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
      const params = { parent_lookup_organization_id: organizationId }
      const { next, results } = await call(routes.audit.list, { params, query: sent, signal })
      return { next, results: results.map(entry => ({ ...entry, id: entry.sequence })) }
    },
    initialPageParam: '',
    getNextPageParam: ({ next, results }) => (next === null ? undefined : String(results.at(-1)?.sequence)),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

function FilterForm({ organizationId, onFilter }: { organizationId: string; onFilter: (filter: Filter) => void }) {
  const t = useMessages()
  const { data: members = [] } = useMembers(organizationId)
  const [draft, setDraft] = useState(noFilter)
  const field = (name: keyof Filter) => ({
    value: draft[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      const { value } = currentTarget
      setDraft(before => ({ ...before, [name]: value }))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onFilter(draft)
  }
  const people = members.map(({ user }) => ({ value: user.email, label: user.email }))
  return (
    <form onSubmit={submit}>
      <FormRow>
        <TextField label={t.audit.search} w={160} {...field('search')} />
        <NativeSelect
          label={t.audit.person}
          w={160}
          data={[{ value: '', label: t.audit.anyone }, ...people]}
          {...field('user')}
        />
        <TextField label={t.audit.object} placeholder="FeatureFlag/12" w={150} {...field('object')} />
        <TextField label={t.audit.from} type="date" w={150} {...field('date_from')} />
        <TextField label={t.audit.to} type="date" w={150} {...field('date_to')} />
        <Button type="submit">{t.audit.filter}</Button>
      </FormRow>
    </form>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const t = useMessages()
  const { sequence, operation, objects, credential, address, note, at } = entry
  const details = [credential?.label, address, note].filter(Boolean).join(' · ')
  return (
    <Accordion variant="contained" order={2}>
      <Accordion.Item value={String(sequence)}>
        <Accordion.Control>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            #{sequence} <b>{auditSubject(entry, t)}</b> {auditSentence(entry, t)}
          </Text>
          <Text size="xs" c="dimmed">
            <RelativeTime instant={at} />
            {details && ` · ${details}`}
          </Text>
        </Accordion.Control>
        <Accordion.Panel>
          <Stack gap="sm">
            {objects.map(object => (
              <ChangesTable key={`${object.type}/${object.id}/${object.activity}`} object={object} />
            ))}
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {t.audit.operation}: {operation}
              <br />
              {t.audit.hash}: {entry.hash}
              <br />
              {t.audit.request}: {entry.request_id ?? '–'}
            </Text>
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

function ChangesTable({ object }: { object: AuditEntry['objects'][number] }) {
  const t = useMessages()
  const { type, id, name, activity, changes = [] } = object
  const title = `${type}/${id} ${name}: ${activity}`
  if (changes.length === 0) return <Text size="sm">{title}</Text>
  return (
    <div>
      <Text size="sm">{title}</Text>
      <DataTable
        label={title}
        head={[t.audit.field, t.audit.before, t.audit.after]}
        rows={changes.map(({ field, before, after }) => ({
          key: field ?? '',
          cells: [field ?? '', valueText(before), valueText(after)],
        }))}
      />
    </div>
  )
}

const valueText = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

function ExportButton({ organizationId, format }: { organizationId: string; format: 'jsonl' | 'cef' }) {
  const t = useMessages()
  const notify = useNotify()
  const key = useCredentials()?.key
  const save = useMutation({
    mutationFn: async () => {
      const params = { parent_lookup_organization_id: organizationId }
      const address = urlOf(routes.audit.export.path, params, { format })
      const response = await request(address, { headers: { authorization: `Bearer ${key}` } })
      if (!response.ok) throw new Error(t.audit.exportFailed)
      downloadText(`audit-log.${format}`, 'application/json', await response.text())
    },
    onError: error => notify.fail(error),
  })
  return (
    <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
      {format === 'jsonl' ? t.audit.exportJson : t.audit.exportCef}
    </Button>
  )
}
