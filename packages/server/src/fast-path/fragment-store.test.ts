import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { openFragmentStore } from './fragment-store.ts'

it('copies fragments one after another, also while it grows and after it was cleared', () => {
  const store = openFragmentStore()!
  const fragments = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 60 })
  fc.assert(
    fc.property(fragments, fc.array(fc.nat()), fc.boolean(), (added, chosen, clears) => {
      if (clears) store.clear()
      const sizeBefore = store.size
      const stored = added.map(bytes => ({ bytes, address: store.add(Buffer.from(bytes)) }))
      expect(store.size).toBe(sizeBefore + added.reduce((sum, { length }) => sum + length, 0))
      const copied = stored.length === 0 ? [] : chosen.map(index => stored[index % stored.length]!)
      const list = Int32Array.from(copied.flatMap(({ address, bytes }) => [address, bytes.length]))
      const expected = Buffer.concat(copied.map(({ bytes }) => bytes))
      const target = Buffer.alloc(expected.length + 9, 0xee)
      store.copy(list, copied.length, expected.length, target, 5)
      expect(target.subarray(5, 5 + expected.length).equals(expected)).toBe(true)
      expect([...target.subarray(0, 5), ...target.subarray(-4)]).toEqual(Array(9).fill(0xee))
    }),
  )
})

it('is not opened where WebAssembly is missing', () => {
  vi.stubGlobal('WebAssembly', undefined)
  try {
    expect(openFragmentStore()).toBeUndefined()
  } finally {
    vi.unstubAllGlobals()
  }
})

it('runs what its WebAssembly text assembles to', () => {
  const script = fileURLToPath(new URL('../../../../scripts/build-wasm.mjs', import.meta.url))
  const path = 'packages/server/src/fast-path/copy-fragments.generated.ts'
  const assembled = execFileSync(process.execPath, [script, '--print', path], { encoding: 'utf8' })
  expect(readFileSync(new URL('copy-fragments.generated.ts', import.meta.url), 'utf8')).toBe(assembled)
})
