import { routes } from '@halyard/contract'
import { Alert, Button, FileButton, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { PersonLink } from '../persons/person-link.tsx'
import type { Cohort } from '../services/cohort-queries.ts'
import { useCall } from '../services/services.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { Pagination } from '../ui/data/pagination.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { WorkProgress } from '../ui/feedback/work-progress.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { type CsvFile, readCsv } from './csv-columns.ts'

const pageSize = 50
const idsAtOnce = 1000
const unknownShownMax = 20
const samplesMax = 3

/** The members of a cohort; a static cohort also gets a form to add some. */
export function CohortPeople({ projectId, cohort, canEdit }: { projectId: string; cohort: Cohort; canEdit: boolean }) {
  const t = useMessages()
  const call = useCall()
  const [offset, setOffset] = useState(0)
  const params = { project_id: projectId, id: String(cohort.id) }
  const people = useQuery({
    queryKey: ['cohort-people', projectId, params.id, offset, cohort.count],
    queryFn: ({ signal }) =>
      call(routes.cohorts.persons, { params, query: { limit: String(pageSize), offset: String(offset) }, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Title order={2}>{t.cohorts.people}</Title>
      {cohort.is_static && canEdit && <AddPeople projectId={projectId} cohort={cohort} />}
      <Loaded query={people}>
        {({ results, next }) =>
          results.length === 0 ? (
            <Text size="sm">{t.cohorts.noMembers}</Text>
          ) : (
            <>
              <DataTable
                label={t.cohorts.people}
                head={[t.persons.name, t.persons.distinctIds]}
                rows={results.map(person => ({
                  key: person.uuid,
                  cells: [
                    <PersonLink key="name" projectId={projectId} person={person} />,
                    person.distinct_ids.slice(0, 2).join(', '),
                  ],
                }))}
              />
              <Pagination
                count={cohort.count ?? offset + results.length + (next ? 1 : 0)}
                offset={offset}
                pageSize={pageSize}
                onChange={setOffset}
              />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

function AddPeople({ projectId, cohort }: { projectId: string; cohort: Cohort }) {
  const t = useMessages()
  const [typed, setTyped] = useState('')
  const { add, cancel, progress, outcome, error } = useAdding(projectId, cohort)
  const [asked, setAsked] = useState<CsvFile>()
  const upload = (file: CsvFile) => {
    if (file.idColumn === undefined) setAsked(file)
    else add(file.columns[file.idColumn]?.values ?? [])
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await add(typed.split(/[\s,;]+/).filter(Boolean))
    setTyped('')
  }
  return (
    <Stack gap="xs">
      <ProblemAlert error={error} />
      <Group align="flex-end" component="form" onSubmit={submit}>
        <TextField
          label={t.cohorts.idsToAdd}
          required
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
          flex="1 1 220px"
          maw={420}
        />
        <Button type="submit" variant="default">
          {t.cohorts.add}
        </Button>
        <FileButton
          accept=".csv,.txt,text/csv,text/plain"
          inputProps={{ 'aria-label': t.cohorts.upload }}
          onChange={async file => file && upload(readCsv(await file.text()))}
        >
          {props => (
            <Button variant="default" {...props}>
              {t.cohorts.upload}
            </Button>
          )}
        </FileButton>
      </Group>
      {progress && <WorkProgress {...progress} onCancel={cancel} />}
      {outcome && <Outcome {...outcome} />}
      {asked && (
        <ColumnDialog
          file={asked}
          onChoose={column => {
            setAsked(undefined)
            add(asked.columns[column]?.values ?? [])
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </Stack>
  )
}

interface Added {
  readonly added: number
  readonly unknown: number
  /** Some of the unknown ids. */
  readonly unknownIds: readonly string[]
}

/** Green only when someone was added. */
function Outcome({ added, unknown, unknownIds }: Added) {
  const t = useMessages()
  return (
    <Alert color={added > 0 ? 'green' : 'yellow'} role="alert">
      {t.cohorts.added(added, unknown)}
      {unknownIds.length > 0 && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          {t.cohorts.unknownIds}: {unknownIds.join(', ')}
          {unknown > unknownIds.length && ' …'}
        </Text>
      )}
    </Alert>
  )
}

interface ColumnProps {
  file: CsvFile
  onChoose: (column: number) => void
  onClose: () => void
}

/** Asked when the header does not say which column has the distinct ids. */
function ColumnDialog({ file, onChoose, onClose }: ColumnProps) {
  const t = useMessages()
  const [column, setColumn] = useState('0')
  return (
    <Dialog title={t.cohorts.chooseColumn} onClose={onClose}>
      <Stack>
        <NativeSelect
          label={t.cohorts.idColumn}
          data-autofocus
          value={column}
          onChange={event => setColumn(event.currentTarget.value)}
          data={file.columns.map(({ name, values }, index) => ({
            value: String(index),
            label: `${name || t.cohorts.column(index + 1)}: ${values.slice(0, samplesMax).join(', ')}`,
          }))}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button onClick={() => onChoose(Number(column))}>{t.cohorts.import}</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

/** A long list is sent in chunks, so that it shows progress and can be canceled. */
function useAdding(projectId: string, cohort: Cohort) {
  const call = useCall()
  const queries = useQueryClient()
  const [progress, setProgress] = useState<{ done: number; total: number }>()
  const [outcome, setOutcome] = useState<Added>()
  const [error, setError] = useState<unknown>(null)
  const isCancelled = useRef(false)
  const add = async (ids: readonly string[]) => {
    isCancelled.current = false
    setError(null)
    setOutcome(undefined)
    const sum = { added: 0, unknown: 0, unknownIds: [] as string[] }
    try {
      for (let done = 0; done < ids.length && !isCancelled.current; done += idsAtOnce) {
        setProgress({ done, total: ids.length })
        const {
          added = 0,
          unknown = 0,
          unknown_ids = [],
        } = await call(routes.cohorts.addPersons, {
          params: { project_id: projectId, id: String(cohort.id) },
          body: { distinct_ids: ids.slice(done, done + idsAtOnce) as string[] },
        })
        sum.added += added
        sum.unknown += unknown
        sum.unknownIds = [...sum.unknownIds, ...unknown_ids].slice(0, unknownShownMax)
      }
      setOutcome(sum)
    } catch (problem) {
      setError(problem)
    }
    setProgress(undefined)
    await queries.invalidateQueries({ queryKey: ['cohort', projectId, String(cohort.id)] })
    await queries.invalidateQueries({ queryKey: ['cohort-people', projectId, String(cohort.id)] })
    await queries.invalidateQueries({ queryKey: ['cohorts', projectId] })
  }
  const cancel = () => {
    isCancelled.current = true
  }
  return { add, cancel, progress, outcome, error }
}
