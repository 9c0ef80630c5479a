import { describe, expect, it } from 'vitest'
import { checkSchema, payloadMismatch } from './payload-schema.ts'

const refusal = (schema: object): string | undefined => {
  try {
    checkSchema(schema as Record<string, unknown>)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
const mismatch = (schema: object, payload: unknown) =>
  payloadMismatch(schema as Record<string, unknown>, { payloads: { true: JSON.stringify(payload) } })

describe('a payload schema', () => {
  it('has known keywords only, with values of the right kind', () => {
    expect(refusal({ type: 'object', title: 'Size', properties: { a: { type: ['string', 'null'] } } })).toBeUndefined()
    expect(refusal({ $ref: '#/x' })).toContain('"$ref" is not supported')
    expect(refusal({ items: { format: 'date' } })).toContain('schema.items: the keyword "format"')
    expect(refusal({ type: 'text' })).toContain('schema.type')
    expect(refusal({ properties: { a: true } })).toContain('properties.a')
    expect(refusal({ minLength: -1 })).toContain('minLength')
    expect(refusal({ pattern: '(a' })).toContain('pattern')
    expect(refusal({ pattern: '(?=a)' })).toContain('pattern')
    expect(refusal({ enum: [] })).toContain('enum')
    let deep: object = {}
    for (let level = 0; level < 30; level++) deep = { items: deep }
    expect(refusal(deep)).toContain('too large')
    expect(refusal({ anyOf: Array.from({ length: 600 }, () => ({})) })).toContain('too large')
  })

  it.each([
    [{ type: 'integer' }, 1, 1.5],
    [{ type: ['string', 'null'] }, null, 1],
    [{ enum: ['a', { b: 1 }] }, { b: 1 }, 'b'],
    [{ const: null }, null, 0],
    [{ minimum: 1, exclusiveMaximum: 3 }, 1, 3],
    [{ maximum: 1, exclusiveMinimum: 0 }, 1, 0],
    [{ minLength: 2, maxLength: 3 }, 'ab', 'abcd'],
    [{ pattern: '^#[0-9a-f]{3}$' }, '#0af', 'red'],
    [{ items: { type: 'string' }, minItems: 1 }, ['a'], ['a', 1]],
    [{ maxItems: 1 }, [1], [1, 2]],
    [{ type: 'object', required: ['toString'] }, { toString: 1 }, {}],
    [{ properties: { a: { type: 'number' } }, additionalProperties: false }, { a: 1 }, { a: 1, b: 2 }],
    [{ properties: { a: {} }, additionalProperties: { type: 'string' } }, { a: 1, b: 'x' }, { b: 1 }],
    [{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, true, 1],
  ])('%j accepts %j and refuses %j', (schema, right, other) => {
    expect(refusal(schema)).toBeUndefined()
    expect(mismatch(schema, right)).toBeUndefined()
    expect(mismatch(schema, other)).toMatch(/^filters\.payloads\.true/)
  })

  it('is checked in bounded time', () => {
    const schema = { anyOf: Array.from({ length: 400 }, () => ({ type: 'number' })) }
    const payload = Array.from({ length: 50_000 }, () => 'x')
    expect(mismatch({ items: { ...schema, anyOf: [...schema.anyOf, { type: 'string' }] } }, payload)).toContain(
      'too large',
    )
    expect(mismatch({ pattern: '^(a|b)*c$' }, 'ab'.repeat(400_000))).toContain('too long')
  })
})
