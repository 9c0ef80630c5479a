import { describe, expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { readConfigFields } from './config-field.ts'
import { checkIsValues, checkValues, defaultValues, maskSecrets, replaceValues, secretMask } from './config-values.ts'

const fields = readConfigFields({
  intro: { markdown: 'text' },
  text: { type: 'string', required: true },
  pick: { type: 'choice', choices: ['a', 'b'], default: 'a' },
  data: { type: 'json' },
  file: { type: 'attachment', required_if: [['pick', 'b']] },
  token: { type: 'string', secret: true, visible_if: [['pick', 'b']], required: true },
  extra: { type: 'string', required_if: [['data']] },
  nonsense: 5,
})

function faultOf(values: Record<string, unknown>, attached: string[] = []): unknown {
  try {
    checkValues(fields, values, new Set(attached))
  } catch (error) {
    if (error instanceof Problem) return [error.field, error.code]
    throw error
  }
  return undefined
}

describe('the values of a configuration', () => {
  test.each<[Record<string, unknown>, unknown]>([
    [{ text: 'x' }, undefined],
    [{ text: 'x', pick: 'a', data: '{"a":1}', extra: 'e', unknown: 1 }, undefined],
    [{ text: 'x', data: { a: 1 }, extra: 'e' }, undefined],
    [{}, ['config__text', 'required']],
    [{ text: '' }, ['config__text', 'required']],
    [{ text: null }, ['config__text', 'required']],
    [{ text: 5 }, ['config__text', 'invalid_input']],
    [{ text: 'x', pick: 'c' }, ['config__pick', 'invalid_choice']],
    [{ text: 'x', data: '{' }, ['config__data', 'invalid_input']],
    [{ text: 'x', data: '1' }, ['config__extra', 'required']],
    [{ text: 'x', pick: 'b', token: 't' }, ['config__file', 'required']],
  ])('%j: %j', (values, fault) => {
    expect(faultOf(values)).toEqual(fault)
  })

  test('an attachment counts as a value, and a field that is shown becomes required', () => {
    expect(faultOf({ text: 'x', pick: 'b' }, ['file'])).toEqual(['config__token', 'required'])
    expect(faultOf({ text: 'x', pick: 'b', token: 't' }, ['file'])).toBeUndefined()
  })

  test('start with the defaults', () => {
    expect(defaultValues(fields)).toEqual({ pick: 'a' })
  })

  test('hide secrets', () => {
    expect(maskSecrets(fields, { text: 'x', token: 't' })).toEqual({ text: 'x', token: secretMask })
    expect(maskSecrets(fields, { token: '' })).toEqual({ token: '' })
    expect(maskSecrets(fields, {})).toEqual({})
  })

  test('are replaced whole, except for secrets that were not sent', () => {
    const old = { text: 'x', data: '1', token: 't' }
    expect(replaceValues(fields, old, { text: 'y' })).toEqual({ text: 'y', token: 't' })
    expect(replaceValues(fields, old, { text: 'y', token: null })).toEqual({ text: 'y', token: 't' })
    expect(replaceValues(fields, old, { text: 'y', token: secretMask })).toEqual({ text: 'y', token: 't' })
    expect(replaceValues(fields, old, { text: 'y', token: '' })).toEqual({ text: 'y', token: '' })
    expect(replaceValues(fields, old, { text: 'y', token: 'new' })).toEqual({ text: 'y', token: 'new' })
    expect(replaceValues(fields, {}, { token: secretMask })).toEqual({})
  })

  test('are an object', () => {
    expect(checkIsValues({})).toEqual({})
    for (const wrong of [null, [], 'x', 1]) expect(() => checkIsValues(wrong)).toThrow(Problem)
  })
})

test('fields are read from both forms of a schema', () => {
  const list = readConfigFields([{ key: 'a', type: 'string', secret: true }, { markdown: 'x' }, { type: 'string' }])
  expect(list.map(field => [field.key, field.secret])).toEqual([['a', true]])
  expect(readConfigFields({ a: { type: 'string', secret: true } })[0]).toMatchObject({ key: 'a', secret: true })
  expect(readConfigFields(null)).toEqual([])
})
