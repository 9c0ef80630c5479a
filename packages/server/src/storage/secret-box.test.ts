import { expect, test } from 'vitest'
import { createSecretBox, generateSecretKey } from './secret-box.ts'

const box = createSecretBox('a key')

test('what is sealed can be opened, and looks different each time', () => {
  const [first, second] = [box.seal('sécret', 'place'), box.seal('sécret', 'place')]
  expect(first).not.toBe(second)
  expect(first).not.toContain('cret')
  expect([box.open(first, 'place'), box.open(second, 'place')]).toEqual(['sécret', 'sécret'])
  expect(box.open(box.seal('', 'place'), 'place')).toBe('')
})

test('it opens only for its own place, with its own key, untouched', () => {
  const sealed = box.seal('secret', 'place')
  expect(() => box.open(sealed, 'elsewhere')).toThrow()
  expect(() => createSecretBox('another key').open(sealed, 'place')).toThrow()
  const bytes = Buffer.from(sealed.slice(3), 'base64')
  for (const index of [0, 12, 20, bytes.length - 1]) {
    const touched = Buffer.from(bytes)
    touched[index] = touched[index]! ^ 1
    expect(() => box.open(`v1:${touched.toString('base64')}`, 'place')).toThrow()
  }
  expect(() => box.open('v1:', 'place')).toThrow()
})

test('generated keys are long and never the same', () => {
  expect(Buffer.from(generateSecretKey(), 'base64')).toHaveLength(32)
  expect(generateSecretKey()).not.toBe(generateSecretKey())
})
