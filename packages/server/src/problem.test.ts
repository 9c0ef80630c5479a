import { expect, it } from 'vitest'
import { Problem } from './problem.ts'

it('limits how much of a request its message quotes, and splits no character', () => {
  const { message } = new Problem('invalid', `There is no "x${'😀'.repeat(100_000)}".`)
  expect(message.length).toBeLessThan(2100)
  expect(message.isWellFormed()).toBe(true)
  expect(message).toMatch(/^There is no "x😀.*…$/u)
})

it('can be stored and shown whatever its message quotes', () => {
  const { message } = new Problem('invalid', 'There is no "a\u0000b\u001b[31m\ud800".\n\tAnother line.')
  expect(message).toBe('There is no "a\ufffdb\ufffd[31m\ufffd".\n\tAnother line.')
})
