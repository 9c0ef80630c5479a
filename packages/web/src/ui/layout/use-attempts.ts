import { type RefObject, useEffect, useState } from 'react'
import { focusInvalidField } from './focus-invalid-field.ts'

/** Errors are shown from the first attempt to submit; each attempt moves the focus to the first invalid field. */
export function useAttempts(form: RefObject<HTMLElement | null>) {
  const [attempts, setAttempts] = useState(0)
  useEffect(() => {
    if (attempts > 0) focusInvalidField(form.current)
  }, [attempts, form])
  return {
    hasTried: attempts > 0,
    attempt: () => setAttempts(count => count + 1),
    reset: () => setAttempts(0),
  }
}
