import { Anchor, List, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../i18n/language.tsx'
import { useFirstCall } from '../services/first-call.ts'
import { CheckIcon } from '../ui/icons.tsx'
import { Section } from '../ui/layout/section.tsx'

/** From an empty project to an application that evaluates a flag. The last step is ticked when the first call arrives. */
export function FirstSteps({ projectId, hasFlags }: { projectId: string; hasFlags: boolean }) {
  const t = useMessages()
  const { isReceived } = useFirstCall(projectId)
  const project = `/project/${projectId}`
  const steps = [
    { text: t.start.stepFlag, to: `${project}/flags/new`, isDone: hasFlags },
    { text: t.start.stepConnect, to: `${project}/setup`, isDone: isReceived },
    { text: isReceived ? t.setup.received : t.start.stepCall, to: undefined, isDone: isReceived },
  ]
  return (
    <Section title={t.start.steps}>
      <div role="status">
        <List spacing="xs" center ps={0}>
          {steps.map(({ text, to, isDone }, index) => (
            <List.Item
              // biome-ignore lint/suspicious/noArrayIndexKey: the steps never move.
              key={index}
              icon={
                <ThemeIcon
                  size={22}
                  radius="xl"
                  color={isDone ? 'green' : 'gray'}
                  variant={isDone ? 'filled' : 'light'}
                >
                  {isDone && <CheckIcon size={14} />}
                </ThemeIcon>
              }
            >
              <VisuallyHidden>{isDone ? t.start.done : t.start.open}: </VisuallyHidden>
              {to && !isDone ? (
                <Anchor component={Link} to={to} size="sm" underline="always">
                  {text}
                </Anchor>
              ) : (
                <Text span size="sm" {...(!isDone && { c: 'dimmed' })}>
                  {text}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      </div>
    </Section>
  )
}
