import { expect, it } from 'vitest'
import { unlessEdited } from './unless-edited.ts'

it('clears what was submitted and keeps what was typed since', () => {
  expect(unlessEdited('first comment', '')('first comment')).toBe('')
  expect(unlessEdited('first comment', '')('second comment')).toBe('second comment')
})
