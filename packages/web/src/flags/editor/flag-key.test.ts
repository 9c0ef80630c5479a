import { describe, expect, it } from 'vitest'
import { isValidKey, suggestKey } from './flag-key.ts'

describe('a flag key', () => {
  it('has letters, digits, - and _', () => {
    expect(['new-checkout', 'A_1', ''].every(isValidKey)).toBe(true)
    expect(['my flag', 'flag!', 'naïve', 'a/b'].some(isValidKey)).toBe(false)
  })

  it('is suggested from any text', () => {
    expect(suggestKey('My first Flag!')).toBe('my-first-flag')
    expect(suggestKey('  Überraschung / 2 ')).toBe('uberraschung-2')
    expect(suggestKey('!!!')).toBe('')
    expect(isValidKey(suggestKey('日本 x'))).toBe(true)
  })
})
