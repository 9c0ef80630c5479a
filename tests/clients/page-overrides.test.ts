import { describe, expect, it } from 'vitest'

/** What a visitor's browser keeps of links that others send. */

interface Overrides {
  readonly token: string | undefined
  readonly values: object
  forget(token: string): void
}

// Imported by name: its types need a browser.
const file: string = '../../packages/openfeature-web/src/toolbar/page-overrides.ts'
const { createPageOverrides } = (await import(file)) as { createPageOverrides: (parts: object) => Overrides }

const encode = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
const nextYear = Math.floor(Date.now() / 1000) + 365 * 86_400
const unsigned = `unsigned.${encode({ o: { first: true }, e: nextYear })}`
const signed = `ho1.${encode({ o: { first: false }, e: Math.floor(Date.now() / 1000) + 3600 })}.${'a'.repeat(43)}`

function open(page: string, stored?: string) {
  const items = new Map(stored === undefined ? [] : [['halyard:overrides', stored]])
  const storage = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, value: string) => void items.set(name, value),
    removeItem: (name: string) => void items.delete(name),
  }
  const overrides = createPageOverrides({ storage, location: { href: page }, history: { replaceState() {} } })
  return { overrides, stored: () => items.get('halyard:overrides') }
}

describe('a link with unsigned overrides', () => {
  it('changes nothing on a site, and keeps the signed ones of the visitor', () => {
    const { overrides, stored } = open(`https://shop.example/?halyard_overrides=${unsigned}`, signed)
    expect([overrides.token, stored()]).toEqual([signed, signed])
    expect(open(`https://shop.example/?halyard_overrides=${unsigned}`).stored()).toBeUndefined()
  })

  it.each(['http://localhost:3000', 'http://app.localhost', 'http://127.0.0.1:8000', 'http://[::1]:8000'])(
    'is followed at %s, for `halyard dev`',
    origin => {
      expect(open(`${origin}/?halyard_overrides=${unsigned}`).overrides.values).toEqual({ first: true })
    },
  )
})

it('stores overrides that the server calls invalid no longer, and others still', () => {
  const { overrides, stored } = open('https://shop.example/', signed)
  overrides.forget('ho1.other')
  expect(stored()).toBe(signed)
  overrides.forget(signed)
  expect([overrides.token, stored()]).toEqual([signed, undefined])
})

it('stores the overrides of the visitor again when the server refuses those of a link', () => {
  const forged = `ho1.${encode({ o: { first: true }, e: nextYear })}.${'b'.repeat(43)}`
  const { overrides, stored } = open(`https://shop.example/?halyard_overrides=${forged}`, signed)
  expect(stored()).toBe(forged)
  overrides.forget(forged)
  expect([overrides.token, stored()]).toEqual([forged, signed])
})
