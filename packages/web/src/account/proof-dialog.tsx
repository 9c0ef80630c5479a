import { routes } from '@halyard/contract'
import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { FactorForm } from '../session/factor-form.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Loaded } from '../ui/feedback/problems.tsx'
import { PasswordField } from '../ui/form/password-field.tsx'

interface Props {
  onProven: () => void
  onClose: () => void
}

/** Asks again for a second factor or, without one, for the password. */
export function ProofDialog({ onProven, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const step = useQuery({
    queryKey: ['proof'],
    queryFn: () => call(routes.secondFactors.prepareProof, {}),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [password, setPassword] = useState('')
  const prove = useMutation({
    mutationFn: (answer: object) =>
      call(routes.secondFactors.prove, { body: { token: step.data?.token ?? '', ...answer } }),
    onSuccess: onProven,
  })
  const isWrong = isProblem(prove.error) && prove.error.status === 400
  const error = prove.error === null ? undefined : isWrong ? t.secondFactor.wrong : problemText(t, prove.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    prove.mutate({ password })
  }
  return (
    <Dialog title={t.secondFactor.proofTitle} isLoading={step.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">{t.secondFactor.proofIntro}</Text>
        <Loaded query={step}>
          {offer =>
            offer.methods.length > 0 ? (
              <FactorForm
                offer={offer}
                isBusy={prove.isPending}
                error={error}
                label={t.secondFactor.confirm}
                onAnswer={prove.mutate}
              />
            ) : (
              <form onSubmit={submit}>
                <Stack>
                  <PasswordField
                    visibilityToggleButtonProps={{ 'aria-label': t.signIn.showPassword, tabIndex: 0 }}
                    label={t.account.currentPassword}
                    autoComplete="current-password"
                    data-autofocus
                    required
                    value={password}
                    error={error}
                    onChange={event => setPassword(event.currentTarget.value)}
                  />
                  <Button type="submit" loading={prove.isPending}>
                    {t.secondFactor.confirm}
                  </Button>
                </Stack>
              </form>
            )
          }
        </Loaded>
      </Stack>
    </Dialog>
  )
}
