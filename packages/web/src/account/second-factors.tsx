import { type SecondFactors as Factors, type NewSecondFactor, routes } from '@halyard/contract'
import { Alert, Anchor, Button, Code, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { createPasskey, hasPasskeys } from '../session/passkey.ts'
import { CopyTextButton } from '../ui/data/copy-button.tsx'
import { DataTable } from '../ui/data/data-table.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { FormDialog } from '../ui/dialog/form-dialog.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { Loaded } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { ProofDialog } from './proof-dialog.tsx'

const queryKey = ['second-factors']

export const useSecondFactors = () => {
  return useApiQuery(queryKey, routes.secondFactors.list, {})
}

/** The second factors and recovery codes of the account. A change whose proof is too old asks for one and continues. */
export function SecondFactors() {
  const t = useMessages()
  const factors = useSecondFactors()
  return (
    <Stack component="section" aria-label={t.secondFactor.title}>
      <div>
        <Title order={2}>{t.secondFactor.title}</Title>
        <Text size="sm" c="dimmed">
          {t.secondFactor.sectionIntro}
        </Text>
      </div>
      <Loaded query={factors}>{data => <FactorList data={data} />}</Loaded>
    </Stack>
  )
}

/** Runs an action; when it needs a fresh proof, asks for it and runs the action again. */
function useProven() {
  const [retry, setRetry] = useState<() => void>()
  const proven = <T,>(action: () => Promise<T>): Promise<T> =>
    action().catch(error => {
      if (!isProblem(error) || error.code !== 'proof_required') throw error
      return new Promise<T>((resolve, reject) => {
        setRetry(() => () => {
          setRetry(undefined)
          action().then(resolve, reject)
        })
      })
    })
  const dialog = retry && <ProofDialog onProven={retry} onClose={() => setRetry(undefined)} />
  return { proven, dialog }
}

export function FactorList({ data }: { data: Factors }) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const { proven, dialog } = useProven()
  const [codes, setCodes] = useState<readonly string[]>()
  const [app, setApp] = useState<AppStep>()
  const refresh = () => Promise.all([queryKey, ['me']].map(key => queries.invalidateQueries({ queryKey: key })))
  const onAdded = async ({ factor, recovery_codes }: NewSecondFactor) => {
    setApp(undefined)
    if (recovery_codes) setCodes(recovery_codes)
    notify.success({ message: t.secondFactor.added(factor.name) })
    await refresh()
  }
  const addApp = async () => setApp(await proven(() => call(routes.secondFactors.prepareCode, {})))
  const addPasskey = useMutation({
    mutationFn: async () => {
      const { token, options } = await proven(() => call(routes.secondFactors.preparePasskey, {}))
      const passkey = await createPasskey(options)
      return (
        passkey && call(routes.secondFactors.addPasskey, { body: { token, passkey, name: t.secondFactor.passkey } })
      )
    },
    onSuccess: added => added && onAdded(added),
    onError: error => notify.fail(error, t.secondFactor.addPasskey),
  })
  const remove = async (id: string) => {
    await proven(() => call(routes.secondFactors.remove, { params: { factor_id: id } }))
    await refresh()
  }
  const renew = async () => {
    const { recovery_codes } = await proven(() => call(routes.secondFactors.renewRecoveryCodes, {}))
    setCodes(recovery_codes)
    await refresh()
  }
  return (
    <Stack>
      {codes && <RecoveryCodes codes={codes} />}
      {data.factors.length === 0 ? (
        <Text size="sm">{t.secondFactor.none}</Text>
      ) : (
        <DataTable
          label={t.secondFactor.title}
          head={[t.secondFactor.name, t.secondFactor.kind, t.secondFactor.addedAt, t.account.lastUsed, '']}
          rows={data.factors.map(factor => ({
            key: factor.id,
            cells: [
              factor.name,
              factor.kind === 'code' ? t.secondFactor.app : t.secondFactor.passkey,
              day(factor.created_at),
              factor.last_used_at ? <RelativeTime key="used" instant={factor.last_used_at} /> : t.secondFactor.never,
              <ConfirmButton
                key="remove"
                label={t.secondFactor.remove}
                of={factor.name}
                question={t.secondFactor.removeQuestion(factor.name)}
                detail={t.secondFactor.removeDetail}
                done={t.secondFactor.removed(factor.name)}
                onConfirm={() => remove(factor.id)}
              />,
            ],
          }))}
        />
      )}
      <Group>
        <Button variant="default" onClick={() => addApp().catch(error => notify.fail(error, t.secondFactor.addApp))}>
          {t.secondFactor.addApp}
        </Button>
        {hasPasskeys() && (
          <Button variant="default" onClick={() => addPasskey.mutate()} loading={addPasskey.isPending}>
            {t.secondFactor.addPasskey}
          </Button>
        )}
      </Group>
      {!hasPasskeys() && (
        <Text size="sm" c="dimmed">
          {t.secondFactor.noPasskeysHere}
        </Text>
      )}
      {data.factors.length > 0 && (
        <Group>
          <Text size="sm">{t.secondFactor.recoveryLeft(data.recovery_codes_left)}</Text>
          <ConfirmButton
            label={t.secondFactor.renew}
            question={t.secondFactor.renewQuestion}
            detail={t.secondFactor.renewDetail}
            done={t.secondFactor.renewed}
            color="indigo"
            onConfirm={renew}
          />
        </Group>
      )}
      {app && <AddApp step={app} onAdded={onAdded} onClose={() => setApp(undefined)} />}
      {dialog}
    </Stack>
  )
}

interface AppStep {
  readonly token: string
  readonly secret: string
  readonly uri: string
}

function AddApp(props: { step: AppStep; onAdded: (added: NewSecondFactor) => unknown; onClose: () => void }) {
  const { step, onAdded, onClose } = props
  const t = useMessages()
  const call = useCall()
  const [code, setCode] = useState('')
  const add = useMutation({
    mutationFn: () =>
      call(routes.secondFactors.addCode, { body: { token: step.token, code, name: t.secondFactor.app } }),
    onSuccess: onAdded,
  })
  const atField = fieldProblem(t, add.error, 'code')
  return (
    <FormDialog
      title={t.secondFactor.addApp}
      label={t.secondFactor.confirm}
      error={atField ? null : add.error}
      isBusy={add.isPending}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{t.secondFactor.appSteps}</Text>
      <Group gap="xs">
        <Code style={{ overflowWrap: 'anywhere' }}>{step.secret.match(/.{1,4}/g)?.join(' ')}</Code>
        <CopyTextButton value={step.secret} of={t.secondFactor.key} />
      </Group>
      <Anchor href={step.uri} size="sm" underline="always">
        {t.secondFactor.openApp}
      </Anchor>
      <TextField
        label={t.secondFactor.code}
        description={t.secondFactor.codeHint}
        inputMode="numeric"
        autoComplete="one-time-code"
        data-autofocus
        required
        value={code}
        error={atField}
        onChange={event => setCode(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const t = useMessages()
  return (
    <Alert color="green" role="alert" title={t.secondFactor.recoveryCodes}>
      <Text size="sm" mb="xs">
        {t.secondFactor.recoveryOnce}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={4} mb="xs" maw={420}>
        {codes.map(code => (
          <Code key={code}>{code}</Code>
        ))}
      </SimpleGrid>
      <CopyTextButton value={codes.join('\n')} of={t.secondFactor.recoveryCodes} />
    </Alert>
  )
}
