import { describe, expect, it } from 'vitest'
import { fuzzyFilter, fuzzyScore } from './fuzzy-match.ts'

const keys = ['checkout-v2', 'new-checkout', 'search', 'chat-widget', 'dark-mode', 'cookie-banner']
const find = (query: string) => fuzzyFilter(query, keys, key => key, 10)

describe('fuzzy search', () => {
  it('ranks the exact text, then prefixes, words, parts and letters in order', () => {
    const texts = ['c-h-k', 'xchk', 'x-chk', 'chk-1', 'chk']
    expect(fuzzyFilter('chk', texts, text => text, 10)).toEqual(texts.toReversed())
  })

  it('finds abbreviations', () => {
    expect(find('chk')[0]).toBe('checkout-v2')
    expect(find('dm')).toEqual(['dark-mode'])
    expect(find('NCK')[0]).toBe('new-checkout')
  })

  it('finds words in any order', () => {
    expect(find('mode dark')).toEqual(['dark-mode'])
    expect(find('v2 check')).toEqual(['checkout-v2'])
    expect(find('mode light')).toEqual([])
  })

  it('prefers a prefix to a later match', () => {
    expect(find('check')).toEqual(['checkout-v2', 'new-checkout'])
  })

  it('does not match scattered letters or unknown ones', () => {
    expect(find('zzz')).toEqual([])
    expect(fuzzyScore('kt', 'checkout-of-the-very-long-name-with-t')).toBeDefined()
    expect(fuzzyScore('qx', 'search')).toBeUndefined()
  })

  it('matches everything without a query', () => {
    expect(find('')).toEqual(keys)
  })
})
