import { routes, type SignIn } from '@halyard/contract'
import { Badge, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { browserName } from './browser-name.ts'

/** The browsers in which the user is signed in. */
export function SignIns() {
  const t = useMessages()
  const { moment } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const signIns = useApiQuery(['sign-ins'], routes.session.listSignIns, {})
  const revoke = async ({ id }: SignIn) => {
    await call(routes.session.revokeSignIn, { params: { sign_in_id: id } })
    await queries.invalidateQueries({ queryKey: ['sign-ins'] })
  }
  return (
    <Stack>
      <div>
        <Title order={2}>{t.account.signIns}</Title>
        <Text size="sm" c="dimmed">
          {t.account.signInsIntro}
        </Text>
      </div>
      <Loaded query={signIns}>
        {all =>
          all.length === 0 ? (
            <Text size="sm">{t.account.noSignIns}</Text>
          ) : (
            <DataTable
              label={t.account.signIns}
              head={[t.account.browser, t.account.address, t.account.lastUsed, t.account.expires, '']}
              rows={all.map(signIn => ({
                key: signIn.id,
                cells: [
                  <Group key="browser" gap="xs" title={signIn.user_agent}>
                    {browserName(signIn.user_agent) || t.common.none}
                    {signIn.is_current && (
                      <Badge variant="light" color="green" size="sm">
                        {t.account.thisBrowser}
                      </Badge>
                    )}
                  </Group>,
                  signIn.address,
                  <RelativeTime key="used" instant={signIn.last_used_at} />,
                  moment(signIn.expires_at),
                  !signIn.is_current && (
                    <ConfirmButton
                      key="revoke"
                      label={t.account.endSignIn}
                      of={browserName(signIn.user_agent)}
                      question={t.account.endSignInQuestion(browserName(signIn.user_agent) || signIn.address)}
                      detail={t.account.endSignInDetail}
                      done={t.account.signInEnded}
                      onConfirm={() => revoke(signIn)}
                    />
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}
