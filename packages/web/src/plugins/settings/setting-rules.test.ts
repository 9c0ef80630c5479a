import { describe, expect, it } from 'vitest'
import { isNeeded, isSetting, isVisible, readSchema, type Setting, validateSettings } from './setting-rules.ts'

const settingsOf = (schema: Record<string, unknown>): Setting[] => readSchema(schema).filter(isSetting)

describe('a schema', () => {
  it('is shown in its order, with text between the fields', () => {
    const schema = {
      last: { type: 'string' },
      second: { type: 'choice', choices: ['a', 1], order: 2, name: 'Second', hint: 'which', default: 'a' },
      markdown_1: { markdown: 'Hello' },
      first: { type: 'json', order: 1, secret: true },
      odd: 'nothing',
      unknown: { type: 'dictionary' },
    }
    const read = readSchema(schema)
    expect(read.map(({ key }) => key)).toEqual(['first', 'second', 'last', 'markdown_1 text'])
    expect(read[1]).toMatchObject({ label: 'Second', hint: 'which', fallback: 'a', choices: ['a'], isSecret: false })
    expect(read[2]).toMatchObject({ label: 'last', hint: '', choices: [], isRequired: false })
  })

  it('applies visible_if and required_if', () => {
    const [mode, token, note] = settingsOf({
      mode: { type: 'choice', choices: ['on', 'off'] },
      token: { type: 'string', visible_if: [['mode', 'on']], required: true },
      note: { type: 'string', required_if: [['token'], ['mode', 'on']] },
    }) as [Setting, Setting, Setting]
    expect(isVisible(mode, {})).toBe(true)
    expect([isVisible(token, { mode: 'off' }), isNeeded(token, { mode: 'off' })]).toEqual([false, false])
    expect([isVisible(token, { mode: 'on' }), isNeeded(token, { mode: 'on' })]).toEqual([true, true])
    expect(isNeeded(note, { mode: 'on' })).toBe(false)
    expect(isNeeded(note, { mode: 'on', token: 'x' })).toBe(true)
  })

  it('reports missing values and invalid JSON', () => {
    const settings = settingsOf({
      a: { type: 'string', required: true },
      b: { type: 'json' },
      c: { type: 'json' },
      d: { type: 'json' },
    })
    const errors = validateSettings(settings, { a: '', b: '{', c: '[1]', d: { an: 'object' } })
    expect([...errors]).toEqual([
      ['a', 'required'],
      ['b', 'json'],
    ])
  })
})
