import { type ImportPlan, importSourceNames, routes } from '@halyard/contract'
import { Alert, Button, Checkbox, FileButton, Group, NativeSelect, Progress, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useProgress } from '../plugins/install/use-install-progress.ts'
import { useCanWrite, useProject } from '../services/session-queries.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { ViewOnly } from '../ui/feedback/view-only.tsx'
import { Page } from '../ui/layout/page.tsx'
import { CertificateList } from './certificate-list.tsx'
import { ChooseEnvironments } from './choose-environments.tsx'
import { bodyOf, type EnvironmentChoice, isComplete } from './environment-choice.ts'
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
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings/import' })
  const project = useProject(projectId)
  const canImport = useCanWrite(projectId)
  const [plan, setPlan] = useState<ImportPlan>()
  return (
    <Page title={t.imports.title} intro={t.imports.intro}>
      {project &&
        (plan ? (
          <Review
            key={plan.id}
            plan={plan}
            organizationId={project.organization}
            onRestart={() => setPlan(undefined)}
          />
        ) : (
          <>
            {canImport ? (
              <ChooseFile organizationId={project.organization} projectId={projectId} onPlan={setPlan} />
            ) : (
              <ViewOnly />
            )}
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
  const [source, setSource] = useState<(typeof importSourceNames)[number]>('launchdarkly')
  const [file, setFile] = useState<File | null>(null)
  /** Set when the file has several environments. */
  const [choice, setChoice] = useState<EnvironmentChoice>()
  const planning = useProgress(routes.imports.create, onPlan)
  const environmentNames = isProblem(planning.error) ? planning.error.environments : []
  const project = { id: Number(projectId), organization: organizationId }
  const start = async (chosen: File) => {
    const where = choice ? bodyOf(choice, project.id) : { mapping: [{ project: project.id }] }
    planning.start({
      params: { parent_lookup_organization_id: organizationId },
      body: { source, content: await chosen.text(), ...where },
    })
  }
  const choose = (chosen: File | null) => {
    setFile(chosen)
    setChoice(undefined)
    planning.reset()
  }
  return (
    <Stack maw={560}>
      {environmentNames.length === 0 && <ProblemAlert error={planning.error} />}
      <NativeSelect
        label={t.imports.source}
        value={source}
        onChange={event => {
          setSource(event.currentTarget.value as typeof source)
          choose(file)
        }}
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
          choose(event.dataTransfer.files[0] ?? null)
        }}
      >
        <FileButton
          accept=".json,application/json"
          inputProps={{ 'aria-label': t.imports.chooseFile }}
          onChange={choose}
        >
          {props => (
            <Button variant="default" {...props}>
              {t.imports.chooseFile}
            </Button>
          )}
        </FileButton>
        <Text size="sm">{file ? file.name : t.imports.drop}</Text>
      </Group>
      {(choice || environmentNames.length > 0) && (
        <ChooseEnvironments
          project={project}
          environments={choice?.names ?? environmentNames}
          choice={choice}
          onChange={setChoice}
        />
      )}
      <Group>
        <Button
          disabled={!file || (environmentNames.length > 0 && !isComplete(choice))}
          loading={planning.isRunning}
          onClick={() => file && start(file)}
        >
          {t.imports.plan}
        </Button>
        {planning.isRunning && <Step steps={planning.steps} />}
      </Group>
    </Stack>
  )
}

/** The last step, with a bar when it counts. */
function Step({ steps }: { steps: readonly string[] }) {
  const step = steps.at(-1) ?? ''
  const [, done, total] = /(\d{1,9}) of (\d{1,9})/.exec(step) ?? []
  return (
    <Stack gap={4} miw={220}>
      <Text size="sm" role="status">
        {step}
      </Text>
      {total !== undefined && <Progress value={(Number(done) / Math.max(1, Number(total))) * 100} aria-hidden />}
    </Stack>
  )
}

interface ReviewProps {
  plan: ImportPlan
  organizationId: string
  onRestart: () => void
}

function Review({ plan, organizationId, onRestart }: ReviewProps) {
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
  const [index, setIndex] = useState(0)
  const { targets } = applied ?? plan
  const target = targets[index]
  const sum = (count: 'created' | 'updated') => targets.reduce((total, each) => total + each[count], 0)
  const shownProject = target?.project === null || target === undefined ? undefined : String(target.project)
  return (
    <Stack>
      <ProblemAlert error={work.error} />
      {applied ? (
        <Alert color="green" title={t.imports.doneTitle} role="status">
          {t.imports.done(sum('created'), sum('updated'))}
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
          {work.isRunning && <Step steps={work.steps} />}
        </Group>
      )}
      <Group>
        <Button variant="default" onClick={onRestart}>
          {t.imports.again}
        </Button>
      </Group>
      {targets.length > 1 && (
        <NativeSelect
          label={t.imports.target}
          maw={280}
          value={String(index)}
          onChange={event => setIndex(Number(event.currentTarget.value))}
          data={targets.map(({ name, environment, project }, value) => ({
            value: String(value),
            label: project === null ? t.imports.newProject(name ?? '') : (name ?? environment ?? String(project)),
          }))}
        />
      )}
      {target && target.new_group_types.length > 0 && (
        <Text size="sm">{t.imports.groupTypes(target.new_group_types.join(', '))}</Text>
      )}
      {target && target.archived > 0 && <Text size="sm">{t.imports.archived(target.archived)}</Text>}
      {target && (
        <ImportItems
          key={index}
          organizationId={organizationId}
          projectId={shownProject}
          planId={plan.id}
          target={index}
          counts={target}
        />
      )}
    </Stack>
  )
}
