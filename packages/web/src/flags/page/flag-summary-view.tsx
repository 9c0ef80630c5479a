import { Alert, Badge, Code, Group, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { draftOf } from '../editor/draft.ts'
import classes from '../editor/editor.module.css'
import { EditorAside } from '../editor/editor-aside.tsx'
import { EditorSection } from '../editor/editor-section.tsx'
import { useDraftProblems } from '../editor/use-draft-problems.ts'
import { payloadText } from '../editor/variants/payload-editor.tsx'
import { own, readFilters } from '../filters.ts'
import { conditionSentence } from '../flag-sentences.ts'
import type { TabProps } from '../flag-tabs.ts'
import { useWording } from '../use-wording.ts'

/** The flag as text, for those who can view but not edit it, with what it means for users. */
export function FlagSummary(props: TabProps) {
  const { flag } = props
  const draft = useMemo(() => draftOf(flag), [flag])
  const edit = useMemo(() => ({ draft, broken: {} }), [draft])
  const checked = useDraftProblems({ ...props, edit, flagId: flag.id, error: null })
  return (
    <div className={classes.columns}>
      <FlagText {...props} />
      <EditorAside project={props.project} draft={draft} before={undefined} checked={checked} isReadOnly />
    </div>
  )
}

function FlagText(props: TabProps) {
  const { flag } = props
  const t = useMessages()
  const wording = useWording(props)
  const filters = readFilters(flag.filters)
  const tags = flag.tags.filter(tag => typeof tag === 'string')
  const settings = [
    [t.fields.ensure_experience_continuity, flag.ensure_experience_continuity ? t.words.yes : t.words.no],
    [t.fields.bucketing_identifier, flag.bucketing_identifier === 'device_id' ? t.editor.byDevice : t.editor.byPerson],
    [
      t.fields.evaluation_runtime,
      flag.evaluation_runtime === 'server'
        ? t.editor.runtimeServer
        : flag.evaluation_runtime === 'client'
          ? t.editor.runtimeClient
          : t.editor.runtimeAll,
    ],
  ]
  return (
    <Stack gap={0}>
      <Alert color="gray">{flag.deleted ? t.flags.deletedHint : t.flags.readOnly}</Alert>
      <EditorSection title={t.editor.conditions} intro={t.editor.conditionsIntro}>
        <ol className={classes.sentences}>
          {filters.groups.map((condition, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
            <li key={index}>{conditionSentence(condition, filters, wording)}</li>
          ))}
        </ol>
      </EditorSection>
      <EditorSection title={t.editor.flagType}>
        {filters.variants.length === 0 ? (
          <Value name={t.editor.kindBoolean} payload={filters.payloads.true} label={t.editor.payload} />
        ) : (
          filters.variants.map(({ key, name, rollout_percentage }) => (
            <Value
              key={key}
              name={`${key}: ${wording.percent(rollout_percentage)}${name ? ` (${name})` : ''}`}
              payload={own(filters.payloads, key)}
              label={t.editor.payloadOf(key)}
            />
          ))
        )}
      </EditorSection>
      <EditorSection title={t.editor.details}>
        <Text size="sm">{flag.name === '' ? t.common.none : flag.name}</Text>
        <Group gap={4} mt="xs">
          {tags.map(tag => (
            <Badge key={tag} variant="light" color="gray" radius="sm">
              {tag}
            </Badge>
          ))}
        </Group>
      </EditorSection>
      <EditorSection title={t.editor.advanced}>
        {settings.map(([name, value]) => (
          <Text key={name} size="sm">
            {name}: {value}
          </Text>
        ))}
      </EditorSection>
    </Stack>
  )
}

function Value({ name, payload, label }: { name: string; payload: unknown; label: string }) {
  return (
    <Stack gap={4} mb="xs">
      <Text size="sm">{name}</Text>
      {payload !== undefined && (
        <>
          <Text size="xs" c="dimmed">
            {label}
          </Text>
          <Code block>{payloadText(payload)}</Code>
        </>
      )}
    </Stack>
  )
}
