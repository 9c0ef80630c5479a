import { invalid } from '../../problem.ts'

export function checkedEmail(email: string, field: string): string {
  const trimmed = email.trim()
  if (!/^[^\s@]+@[^\s@]+$/.test(trimmed)) throw invalid(field, 'invalid_input', 'Enter a valid e-mail address.')
  return trimmed
}
