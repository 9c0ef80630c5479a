import { urlOf } from '@halyard/contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSession } from './session.ts'

function memoryStorage(): Storage {
  const values = new Map<string, string>()
  return {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  } as unknown as Storage
}

const now = Date.parse('2026-01-01T00:00:00Z')
const credentials = { key: 'phx_1', expiresAt: '2026-01-01T12:00:00Z' }

describe('a session', () => {
  beforeEach(() => void vi.useFakeTimers({ now }))
  afterEach(() => void vi.useRealTimers())

  it('is stored and read again', () => {
    const storage = memoryStorage()
    createSession(storage).begin(credentials)
    expect(createSession(storage).current()).toEqual(credentials)
  })

  it('ends when its key expires, and the reason survives a reload', () => {
    const storage = memoryStorage()
    const session = createSession(storage)
    const changes: unknown[] = []
    session.begin(credentials)
    session.subscribe(() => changes.push(session.endedBecause()))
    vi.advanceTimersByTime(12 * 60 * 60 * 1000)
    expect(session.current()).toBeUndefined()
    expect(changes).toEqual(['expired'])
    expect(createSession(storage).endedBecause()).toBe('expired')
  })

  it('is not ended by a late response for an older key', () => {
    const session = createSession(memoryStorage())
    session.begin({ ...credentials, key: 'phx_2' })
    session.end('expired', 'phx_1')
    expect(session.current()?.key).toBe('phx_2')
    session.end('signed-out')
    expect(session.current()).toBeUndefined()
    expect(session.endedBecause()).toBe('signed-out')
  })

  it('ignores broken storage', () => {
    const storage = memoryStorage()
    storage.setItem('halyard.session', '{')
    expect(createSession(storage).current()).toBeUndefined()
    storage.setItem('halyard.session', '{"key":1}')
    expect(createSession(storage).current()).toBeUndefined()
  })
})

describe('the URL of a route', () => {
  it('encodes parameters and omits empty queries', () => {
    expect(urlOf('/api/projects/:id/flags/:key', { id: 1, key: 'a/b c' })).toBe('/api/projects/1/flags/a%2Fb%20c/')
    expect(urlOf('/api/x', {}, { q: 'ä&', empty: '', missing: undefined })).toBe('/api/x/?q=%C3%A4%26')
  })
})
