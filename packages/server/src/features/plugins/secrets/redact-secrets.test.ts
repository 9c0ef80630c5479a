import { expect, test } from 'vitest'
import { createSecretRedactor } from './redact-secrets.ts'

test('replaces secrets wherever they occur, the longest first', () => {
  const redactor = createSecretRedactor()
  expect(redactor.redact('nothing is known yet')).toBe('nothing is known yet')
  redactor.learn({ key: 'abcd', longer: 'abcdefgh', json: '{"user":"anna","port":54321}', list: ['deep-secret'] })
  expect(redactor.redact('abcdefgh abcd, anna at 54321 with deep-secret')).toBe(
    '•••••••• ••••••••, •••••••• at •••••••• with ••••••••',
  )
})

test('leaves texts alone that only contain very short secrets', () => {
  const redactor = createSecretRedactor()
  redactor.learn({ a: 'x', b: '', c: null, d: true, e: 12 })
  expect(redactor.redact('x is true in 12 texts')).toBe('x is true in 12 texts')
})
