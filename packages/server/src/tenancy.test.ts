import { describe, expect, it } from 'vitest'
import { acceptsToken } from './tenancy.ts'

const project = { apiToken: 'new', previousToken: { token: 'old', expiresAt: '2026-01-01T00:00:00.000000Z' } }
const before = Date.parse('2025-12-31T23:59:59Z')

describe('a project token', () => {
  it('is accepted while it is current', () => {
    expect(acceptsToken(project, 'new', before)).toBe(true)
    expect(acceptsToken({ apiToken: 'new' }, 'old', before)).toBe(false)
    expect(acceptsToken(project, 'other', before)).toBe(false)
  })

  it('is accepted after a rotation until it expires', () => {
    expect(acceptsToken(project, 'old', before)).toBe(true)
    expect(acceptsToken(project, 'old', before + 1000)).toBe(false)
  })
})
