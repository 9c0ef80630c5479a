import { describe, expect, it } from 'vitest'
import { de } from '../../i18n/de.ts'
import { en } from '../../i18n/en.ts'
import { readFlagCommand } from './flag-command.ts'

describe('a command for a flag', () => {
  it.each([
    ['turn off express', false, 'express'],
    ['Turn express delivery OFF', false, 'express delivery'],
    ['express off', false, 'express'],
    ['switch on dark mode', true, 'dark mode'],
    ['disable express', false, 'express'],
    ['turn off', false, ''],
  ])('%s', (query, isTurningOn, text) => {
    expect(readFlagCommand(query, en)).toEqual({ isTurningOn, text })
  })

  it.each([
    ['express ausschalten', false, 'express'],
    ['ausschalten express', false, 'express'],
    ['express aus', false, 'express'],
    ['schalte express ein', true, 'express'],
    ['ausschalten', false, ''],
  ])('%s', (query, isTurningOn, text) => {
    expect(readFlagCommand(query, de)).toEqual({ isTurningOn, text })
  })

  it.each(['off', 'on', 'offline-mode', 'turn', 'checkout'])('is not %s, which may begin a name', query => {
    expect(readFlagCommand(query, en)).toBeUndefined()
  })
})
