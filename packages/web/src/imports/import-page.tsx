import { type ImportPlan, importSourceNames, routes } from '@halyard/contract'
import { Alert, Button, Checkbox, FileButton, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useProgress } from '../plugins/install/use-install-progress.ts'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { Page } from '../ui/layout/page.tsx'
import { CertificateList } from './certificate-list.tsx'
import { ImportItems } from './import-items.tsx'

const sourceTitles: Readonly<Record<(typeof importSourceNames)[number], string>> = {
  posthog: 'PostHog',
  launchdarkly: 'LaunchDarkly',
  unleash: 'Unleash',
  growthbook: 'GrowthBook',
  flagsmith: 'Flagsmith',
  flagd: 'flagd',
  'go-feature-flag': 'GO Feature Flag',
  flipt: 'Flipt',
  configcat: 'ConfigCat',
}

/** A file of another service: read, reviewed, then imported. */
export function ImportPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/import' })
  const project = useProject(projectId)
  const [plan, setPlan] = useState<ImportPlan>()
  return (
    <Page title={t.imports.title} intro={t.imports.intro}>
      {project &&
        (plan ? (
          <Review
            key={plan.id}
            plan={plan}
            organizationId={project.organization}
            projectId={projectId}
            onRestart={() => setPlan(undefined)}
          />
        ) : (
          <>
            <ChooseFile organizationId={project.organization} projectId={projectId} onPlan={setPlan} />
            <CertificateList projectId={projectId} />
          </>
        ))}
    </Page>
  )
}

interface ChooseFileProps {
  organizationId: string
  projectId: string
  onPlan: (plan: ImportPlan) => void
}

function ChooseFile({ organizationId, projectId, onPlan }: ChooseFileProps) {
  const t = useMessages()
  const call = useCall()
  const [source, setSource] = useState<(typeof importSourceNames)[number]>('launchdarkly')
  const [environment, setEnvironment] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const planning = useMutation({
    mutationFn: async (chosen: File) =>
      call(routes.imports.create, {
        params: { parent_lookup_organization_id: organizationId },
        body: {
          source,
          content: await chosen.text(),
          mapping: [{ project: Number(projectId), environment: environment.trim() || null }],
        },
      }),
    onSuccess: onPlan,
  })
  return (
    <Stack maw={560}>
      <ProblemAlert error={planning.error} />
      <NativeSelect
        label={t.imports.source}
        value={source}
        onChange={event => setSource(event.currentTarget.value as typeof source)}
        data={importSourceNames.map(name => ({ value: name, label: sourceTitles[name] }))}
      />
      <Group
        component="section"
        aria-label={t.imports.file}
        p="md"
        style={{ border: '1px dashed var(--mantine-color-default-border)', borderRadius: 8 }}
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault()
          setFile(event.dataTransfer.files[0] ?? null)
        }}
      >
        <FileButton
          accept=".json,application/json"
          inputProps={{ 'aria-label': t.imports.chooseFile }}
          onChange={setFile}
        >
          {props => (
            <Button variant="default" {...props}>
              {t.imports.chooseFile}
            </Button>
          )}
        </FileButton>
        <Text size="sm">{file ? file.name : t.imports.drop}</Text>
      </Group>
      <TextField
        label={t.imports.environment}
        description={t.imports.environmentHint}
        value={environment}
        onChange={event => setEnvironment(event.currentTarget.value)}
      />
      <Group>
        <Button disabled={!file} loading={planning.isPending} onClick={() => file && planning.mutate(file)}>
          {t.imports.plan}
        </Button>
      </Group>
    </Stack>
  )
}

interface ReviewProps {
  plan: ImportPlan
  organizationId: string
  projectId: string
  onRestart: () => void
}

function Review({ plan, organizationId, projectId, onRestart }: ReviewProps) {
  const t = useMessages()
  const queries = useQueryClient()
  const [isOnlyExact, setIsOnlyExact] = useState(false)
  const [isOverwriting, setIsOverwriting] = useState(false)
  const [applied, setApplied] = useState<ImportPlan>()
  const work = useProgress(routes.imports.apply, result => {
    setApplied(result)
    return queries.invalidateQueries()
  })
  const params = { parent_lookup_organization_id: organizationId, import_id: String(plan.id) }
  const body = { only: isOnlyExact ? ('exact' as const) : ('all' as const), overwrite: isOverwriting }
  const [target] = (applied ?? plan).targets
  return (
    <Stack>
      <ProblemAlert error={work.error} />
      {applied && target ? (
        <Alert color="green" title={t.imports.doneTitle} role="status">
          {t.imports.done(target.created, target.updated)}
        </Alert>
      ) : (
        <Group>
          <Checkbox
            label={t.imports.onlyExact}
            checked={isOnlyExact}
            onChange={event => setIsOnlyExact(event.currentTarget.checked)}
          />
          <Checkbox
            label={t.imports.overwrite}
            checked={isOverwriting}
            onChange={event => setIsOverwriting(event.currentTarget.checked)}
          />
          <Button loading={work.isRunning} onClick={() => work.start({ params, body })}>
            {t.imports.apply}
          </Button>
          {work.isRunning && (
            <Text size="sm" role="status">
              {work.steps.at(-1)}
            </Text>
          )}
        </Group>
      )}
      <Group>
        <Button variant="default" onClick={onRestart}>
          {t.imports.again}
        </Button>
      </Group>
      {target && <ImportItems organizationId={organizationId} projectId={projectId} planId={plan.id} counts={target} />}
    </Stack>
  )
}
