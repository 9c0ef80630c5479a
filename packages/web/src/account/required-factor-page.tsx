import { Button, Paper, Stack, Text, Title } from '@mantine/core'
import { useMessages } from '../i18n/language.tsx'
import { AuthLayout } from '../session/auth-layout.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { FactorList, useSecondFactors } from './second-factors.tsx'

/** For a user whose organization requires a second factor: they can do nothing else before. */
export function RequiredFactorPage({ onDone }: { onDone: () => void }) {
  const t = useMessages()
  const factors = useSecondFactors()
  return (
    <AuthLayout>
      <Loaded query={factors}>
        {data => (
          <Stack>
            <Title order={1} ta="center">
              {t.secondFactor.requiredTitle}
            </Title>
            <Text ta="center" c="dimmed">
              {t.secondFactor.requiredIntro(data.required_by.join(', '))}
            </Text>
            <Paper withBorder p="lg" radius="lg">
              <FactorList data={data} />
            </Paper>
            {data.factors.length > 0 && <Button onClick={onDone}>{t.secondFactor.goOn}</Button>}
          </Stack>
        )}
      </Loaded>
    </AuthLayout>
  )
}
