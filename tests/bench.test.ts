import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { type Figure, isAlarming, isMet, median, quantile, ratios } from '../bench/measure.ts'

const root = resolve(import.meta.dirname, '..')

it('reads medians, ratios and bars', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(quantile([4, 3, 2, 1], 0.9)).toBe(4)
  expect(ratios([4, 9], [2, 3])).toEqual([2, 3])
  const figure = { measure: 'a', unit: '×', value: 1 }
  expect(isMet(figure)).toBeUndefined()
  expect(isMet({ ...figure, atMost: 1 })).toBe(true)
  expect(isMet({ ...figure, atLeast: 2 })).toBe(false)
  expect(isAlarming({ ...figure, alarm: 2 })).toBe(false)
  expect(isAlarming({ ...figure, atLeast: 4, alarm: 2 })).toBe(true)
  expect(isAlarming({ ...figure, value: Number.NaN, alarm: 2 })).toBe(true)
})

// How fast is not asked here: only whether every row still runs and finds a number.
it('runs every row', { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-test-'))
  const json = join(folder, 'results.json')
  const run = spawn(process.execPath, [join(root, 'bench/run.mjs'), '--size=tiny', '--no-peers', `--json=${json}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(run, 'exit')
  expect(code).toBe(0)
  const { rows } = JSON.parse(readFileSync(json, 'utf8')) as { rows: Record<string, Figure[]> }
  rmSync(folder, { recursive: true })
  expect(Object.keys(rows)).toHaveLength(9)
  for (const figures of Object.values(rows)) {
    expect(figures.length).toBeGreaterThan(0)
    // A turn this short may be over within one tick of the processor's clock.
    const measured = figures.filter(({ measure }) => !measure.includes('processor time'))
    for (const { measure, value } of measured) expect(value, measure).toBeGreaterThanOrEqual(0)
  }
})
