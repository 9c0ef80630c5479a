import { Anchor, Button, Divider, Stack } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { getPasskey, hasPasskeys } from './passkey.ts'

/** What a server offers to answer with. */
interface Offer {
  readonly methods: readonly ('code' | 'passkey' | 'recovery_code')[]
  readonly passkey_options: Record<string, unknown> | null
}

export interface FactorAnswer {
  readonly code?: string
  readonly recovery_code?: string
  readonly passkey?: Record<string, unknown>
}

interface Props {
  offer: Offer
  isBusy: boolean
  error: string | undefined
  label: string
  onAnswer: (answer: FactorAnswer) => void
}

/** Asks for a second factor: a passkey, a code of an authenticator app, or a recovery code. */
export function FactorForm({ offer, isBusy, error, label, onAnswer }: Props) {
  const t = useMessages()
  const hasCode = offer.methods.includes('code')
  const [isRecovery, setIsRecovery] = useState(false)
  const [isDismissed, setIsDismissed] = useState(false)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const asksText = isRecovery || hasCode
  useEffect(() => field.current?.focus(), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAnswer(isRecovery ? { recovery_code: text } : { code: text })
  }
  const askPasskey = async () => {
    const passkey = offer.passkey_options ? await getPasskey(offer.passkey_options) : undefined
    setIsDismissed(passkey === undefined)
    if (passkey) onAnswer({ passkey })
  }
  const canUsePasskey = offer.passkey_options !== null && hasPasskeys()
  return (
    <form onSubmit={submit}>
      <Stack>
        {canUsePasskey && (
          <Button variant={asksText ? 'default' : 'filled'} onClick={askPasskey} loading={isBusy && !asksText}>
            {t.secondFactor.usePasskey}
          </Button>
        )}
        {canUsePasskey && isDismissed && <span role="alert">{t.secondFactor.passkeyFailed}</span>}
        {canUsePasskey && asksText && <Divider label={t.secondFactor.or} />}
        {asksText && (
          <>
            <TextField
              key={String(isRecovery)}
              ref={field}
              label={isRecovery ? t.secondFactor.recoveryCode : t.secondFactor.code}
              description={isRecovery ? t.secondFactor.recoveryHint : t.secondFactor.codeHint}
              autoComplete={isRecovery ? 'off' : 'one-time-code'}
              inputMode={isRecovery ? 'text' : 'numeric'}
              data-autofocus
              required
              value={text}
              error={error}
              onChange={event => setText(event.currentTarget.value)}
            />
            <Button type="submit" fullWidth loading={isBusy}>
              {label}
            </Button>
          </>
        )}
        {!asksText && error && <span role="alert">{error}</span>}
        {offer.methods.includes('recovery_code') && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            underline="always"
            onClick={() => {
              setIsRecovery(!isRecovery)
              setText('')
            }}
          >
            {isRecovery ? t.secondFactor.noRecovery : t.secondFactor.useRecovery}
          </Anchor>
        )}
      </Stack>
    </form>
  )
}
