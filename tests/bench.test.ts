import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { type Figure, isMet, median, quantile, ratios } from '../bench/measure.ts'
import { markdownOf, type Records } from '../bench/report.ts'

const root = resolve(import.meta.dirname, '..')

it('computes medians, ratios and targets', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(quantile([4, 3, 2, 1], 0.9)).toBe(4)
  expect(ratios([4, 9], [2, 3])).toEqual([2, 3])
  const figure = { measure: 'a', unit: '×', value: 1 }
  expect(isMet(figure)).toBeUndefined()
  expect(isMet({ ...figure, atMost: 1 })).toBe(true)
  expect(isMet({ ...figure, atLeast: 2 })).toBe(false)
})

it('renders results as tables, including missed targets', () => {
  const machine = { node: 'v20.20.0', platform: 'linux x64', processors: '2 × any', memoryMegabytes: 1024 }
  const figures: Figure[] = [
    { measure: 'one', value: 1.234, unit: '×', spread: [1, 2], atMost: 2 },
    { measure: 'other', value: 300, unit: 'ms', atMost: 20, note: 'p50 3 ms' },
  ]
  const record = { at: '2026-01-02T03:04:05.000Z', size: 'full', machine, load: [0.5, 1] as const, figures }
  expect(markdownOf({ row: record }, ['absent', 'row'])).toMatchInlineSnapshot(`
    "**row**: 2026-01-02 03:04 UTC, Node 20.20.0, load average 0.5 before and 1.0 after.

    | measure | target | median (p10–p90) | |
    |---|---|---|---|
    | one | ≤ 2 | 1.23 × (1.00–2.00) | met |
    | other | ≤ 20 | 300 ms; p50 3 ms | **missed** |"
  `)
})

// Asserts no timings: only that every row runs and produces a number.
it('runs every row', { timeout: 900_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-test-'))
  const json = join(folder, 'results.json')
  const run = spawn(process.execPath, [join(root, 'bench/run.mjs'), '--size=tiny', '--no-peers', `--json=${json}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(run, 'exit')
  expect(code).toBe(0)
  const { rows } = JSON.parse(readFileSync(json, 'utf8')) as { rows: Records }
  rmSync(folder, { recursive: true })
  expect(Object.keys(rows)).toHaveLength(10)
  // Only /proc provides the CPU time of another process.
  const number = existsSync('/proc/self/stat') ? expect.any(Number) : expect.toBeOneOf([expect.any(Number), null])
  for (const { figures } of Object.values(rows)) {
    expect(figures.length).toBeGreaterThan(0)
    for (const { measure, value } of figures) expect({ measure, value }).toEqual({ measure, value: number })
  }
})
