import { type Flag, routes } from '@halyard/contract'
import { ActionIcon, Alert, Badge, Group, Menu, Stack, Switch, Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useOfferActions } from '../../services/palette-actions.ts'
import { recordRecent } from '../../services/recent-items.ts'
import { useProject } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { DotsIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageTabs } from '../../ui/layout/tabs.tsx'
import { UsedBy, useUsedBy } from '../../used-by/used-by.tsx'
import { CodeTab } from '../code/code-tab.tsx'
import { CopiesTab } from '../copies/copies-tab.tsx'
import { draftOf } from '../editor/draft.ts'
import { LeaveGuard } from '../editor/drafts/leave-guard.tsx'
import { draftId } from '../editor/drafts/unsaved-draft.ts'
import { useFlagDraft } from '../editor/drafts/use-flag-draft.ts'
import { useEnvironmentSets } from '../environments/environment-queries.ts'
import { EnvironmentStrip } from '../environments/environment-strip.tsx'
import { describeState } from '../flag-summary.ts'
import { type FlagTab, flagTabs, type TabProps } from '../flag-tabs.ts'
import { OpenRequests, useOpenRequests } from '../gate/open-requests.tsx'
import { plainSave, type SaveMode } from '../gate/save-mode.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { HistoryTab } from '../history/history-tab.tsx'
import { FlagPresence } from '../presence/flag-presence.tsx'
import { ScheduleTab } from '../schedule/schedule-tab.tsx'
import { usePatchFlag } from '../use-flags.ts'
import { useRelatedFlags } from '../use-related-flags.ts'
import { useToggle } from '../use-toggle.tsx'
import { AccessTab } from './access-tab.tsx'
import { ArchiveDialog, useArchiving } from './archive-dialog.tsx'
import { CopyKey } from './copy-key.tsx'
import { FavoriteButton } from './favorite-button.tsx'
import { FlagDetailsTab } from './flag-details-tab.tsx'
import { ReviveDialog } from './revive-dialog.tsx'
import { TargetingTab } from './targeting-tab.tsx'
import { UsageTab } from './usage-tab.tsx'

const noFilters = {}

export function FlagPage() {
  const { projectId, flagId } = useParams({ from: '/shell/project/$projectId/flags/$flagId' })
  const project = useProject(projectId)
  const flag = useApiQuery(['flag', projectId, flagId], routes.flags.get, {
    params: { project_id: projectId, id: flagId },
  })
  const flags = useRelatedFlags(projectId, flag.data?.filters ?? noFilters)
  const cohorts = useCohorts(projectId)
  // Both stand above the tabs.
  const requests = useOpenRequests({ projectId, flagId: Number(flagId) })
  const sets = useEnvironmentSets(project?.organization)
  const isWaiting = requests.isPending || sets.isPending
  const data = project && flag.data && !isWaiting ? { project, flag: flag.data } : undefined
  return (
    <Loaded query={{ ...flag, data, refetch: flag.refetch }}>
      {loaded => <FlagWithTabs key={loaded.flag.id} {...loaded} flags={flags} cohorts={cohorts} />}
    </Loaded>
  )
}

function FlagWithTabs(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const { percent } = useFormats()
  const projectId = String(project.id)
  const { tab = 'targeting' } = useSearch({ from: '/shell/project/$projectId/flags/$flagId' })
  const navigate = useNavigate()
  const { toggle, dialog } = useToggle(project)
  const latest = useMemo(() => ({ version: flag.version, original: draftOf(flag) }), [flag])
  const edit = useFlagDraft(draftId(projectId, flag.id), latest)
  usePaletteEntries(projectId, flag, () => toggle(flag))
  const state = describeState(flag, { t, percent, groupTypes: project.group_types })
  const tabs: Record<FlagTab, { label: string; content: () => ReactNode }> = {
    targeting: {
      label: edit.isChanged ? `${t.tabs.targeting} •` : t.tabs.targeting,
      content: () => <TargetingTab {...props} edit={edit} />,
    },
    usage: { label: t.tabs.usage, content: () => <UsageTab {...props} /> },
    copies: { label: t.tabs.copies, content: () => <CopiesTab {...props} /> },
    schedule: { label: t.tabs.schedule, content: () => <ScheduleTab {...props} /> },
    history: { label: t.tabs.history, content: () => <HistoryTab {...props} /> },
    details: { label: t.tabs.details, content: () => <FlagDetailsTab {...props} /> },
    code: { label: t.tabs.code, content: () => <CodeTab {...props} /> },
    access: { label: t.tabs.access, content: () => <AccessTab {...props} /> },
  }
  const open = (next: FlagTab) =>
    navigate({
      to: '/project/$projectId/flags/$flagId',
      params: { projectId, flagId: String(flag.id) },
      search: next === 'targeting' ? {} : { tab: next },
    })
  return (
    <Page
      title={flag.key}
      parents={[{ label: t.flags.title, to: `/project/${projectId}/flags` }]}
      hasSmallActions
      intro={
        <>
          {state.text}
          {flag.name !== '' && (
            <Text span inherit title={flag.name} lineClamp={2}>
              {flag.name}
            </Text>
          )}
        </>
      }
      actions={
        <Group gap="xs">
          <FlagPresence projectId={projectId} flagId={flag.id} isEditing={edit.isChanged} />
          <FlagState flag={flag} onToggle={() => toggle(flag)} />
          <FavoriteButton projectId={projectId} flagId={flag.id} />
          <CopyKey flagKey={flag.key} />
          {flag.can_edit && <FlagMenu flag={flag} project={project} />}
        </Group>
      }
    >
      {dialog}
      <EnvironmentStrip flag={flag} project={project} />
      {flag.archived && (
        <Alert color="gray" mb="md">
          {t.archive.hint}
        </Alert>
      )}
      <OpenRequests projectId={projectId} flagId={flag.id} />
      <LeaveGuard isChanged={edit.isChanged} onDiscard={edit.discard} />
      <PageTabs label={flag.key} names={flagTabs} tabs={tabs} value={tab} onChange={open} />
    </Page>
  )
}

/** The flag in the command palette: among the recent pages, with its actions. */
function usePaletteEntries(projectId: string, flag: Flag, onToggle: () => void): void {
  const t = useMessages()
  useEffect(() => {
    recordRecent(localStorage, { path: `/project/${projectId}/flags/${flag.id}`, label: flag.key, kind: 'flag' })
  }, [projectId, flag.id, flag.key])
  useOfferActions([
    { id: 'copy-key', label: `${t.flags.copyKey}: ${flag.key}`, run: () => navigator.clipboard.writeText(flag.key) },
    ...(flag.can_edit && !flag.deleted && !flag.archived
      ? [
          {
            id: `toggle ${flag.id}`,
            label: flag.active ? t.palette.turnOff(flag.key) : t.palette.turnOn(flag.key),
            isDangerous: flag.active,
            run: onToggle,
          },
        ]
      : []),
  ])
}

/** The switch, or a badge where it cannot be used. */
function FlagState({ flag, onToggle }: { flag: Flag; onToggle: () => void }) {
  const t = useMessages()
  if (flag.deleted) {
    return (
      <Badge color="red" variant="light">
        {t.flagState.deleted}
      </Badge>
    )
  }
  if (flag.archived) {
    return (
      <Badge color="gray" variant="light" size="lg">
        {t.archive.archived}
      </Badge>
    )
  }
  const label = flag.active ? t.flags.stateOn : t.flags.stateOff
  return flag.can_edit ? (
    <Switch size="md" color="green" labelPosition="left" label={label} checked={flag.active} onChange={onToggle} />
  ) : (
    <Badge color={flag.active ? 'green' : 'gray'} variant="light" size="lg">
      {label}
    </Badge>
  )
}

function FlagMenu({ flag, project }: Pick<TabProps, 'flag' | 'project'>) {
  const t = useMessages()
  const projectId = String(project.id)
  const notify = useNotify()
  const patch = usePatchFlag(projectId)
  const announceRequest = useRequestedNotice(projectId)
  const [dialog, setDialog] = useState<'delete' | 'archive' | 'restore' | 'unarchive'>()
  const close = () => setDialog(undefined)
  const { unarchive } = useArchiving(projectId, flag)
  const setDeleted = async (deleted: boolean, mode: SaveMode = plainSave): Promise<void> => {
    const outcome = await patch.mutateAsync({ flag, patch: { deleted }, mode })
    if (outcome.kind === 'requested') return announceRequest(outcome.request)
    notify.success({
      id: `delete-${flag.id}`,
      message: deleted ? t.bulk.deleted(1) : t.bulk.restored(1),
      onUndo: () => setDeleted(!deleted).catch(error => notify.fail(error, flag.key)),
    })
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.common.moreActions}>
            <DotsIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {flag.deleted ? (
            <Menu.Item onClick={() => setDialog('restore')}>{t.flags.bulkRestore}</Menu.Item>
          ) : (
            <>
              {flag.archived ? (
                <Menu.Item onClick={() => setDialog('unarchive')}>{t.archive.unarchive}</Menu.Item>
              ) : (
                <Menu.Item onClick={() => setDialog('archive')}>{t.archive.archive}</Menu.Item>
              )}
              <Menu.Item c="var(--mantine-color-error)" onClick={() => setDialog('delete')}>
                {t.flags.bulkDelete}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'archive' && <ArchiveDialog projectId={projectId} flag={flag} onClose={close} />}
      {(dialog === 'restore' || dialog === 'unarchive') && (
        <ReviveDialog
          flag={flag}
          project={project}
          field={dialog === 'restore' ? 'deleted' : 'archived'}
          onConfirm={mode => (dialog === 'restore' ? setDeleted(false, mode) : unarchive())}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <DeleteDialog projectId={projectId} flag={flag} onDelete={() => setDeleted(true)} onClose={close} />
      )}
    </>
  )
}

interface DeleteProps {
  projectId: string
  flag: Flag
  onDelete: () => unknown
  onClose: () => void
}

function DeleteDialog({ projectId, flag, onDelete, onClose }: DeleteProps) {
  const t = useMessages()
  const used = useUsedBy(projectId, { flag: flag.id })
  return (
    <ConfirmDialog
      question={t.flags.deleteQuestion(flag.key)}
      label={t.flags.bulkDelete}
      isLoading={used.isPending}
      detail={
        <Stack gap="sm">
          <Text>{t.flags.deleteDetail}</Text>
          <UsedBy used={used} />
        </Stack>
      }
      onConfirm={onDelete}
      onClose={onClose}
    />
  )
}
