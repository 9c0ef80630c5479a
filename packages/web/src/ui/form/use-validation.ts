import { type FormEvent, type ReactNode, useState } from 'react'
import type { Messages } from '../../i18n/en.ts'
import { useMessages } from '../../i18n/language.tsx'

type ValidityField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Shows what the browser finds invalid as an error of the field instead of the browser's own bubble. */
export function useValidation(error: ReactNode) {
  const t = useMessages()
  const [message, setMessage] = useState<string>()
  return {
    error: error ?? message,
    withAsterisk: false,
    onInvalid: (event: FormEvent<ValidityField>) => {
      event.preventDefault()
      const field = event.currentTarget
      setMessage(validityMessage(t, field))
      if (field.form?.querySelector(':invalid:not(fieldset)') === field) field.focus()
    },
    onInput: () => setMessage(undefined),
  }
}

function validityMessage(t: Messages, field: ValidityField): string {
  const { validity } = field
  if (validity.valueMissing) return t.validation.required
  if (validity.typeMismatch) return field.type === 'url' ? t.validation.url : t.validation.email
  if (validity.tooShort && 'minLength' in field) return t.validation.tooShort(Number(field.minLength))
  return field.validationMessage
}
