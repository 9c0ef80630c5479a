import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../tests/free-port.ts'
import type { Installations } from '../installation.ts'
import { type Figure, median, ratios, type Size, spreadOf } from '../measure.ts'
import { cpuSeconds, stopProcess } from '../processes.ts'
import type { Row } from '../row.ts'

const program = fileURLToPath(new URL('../../packages/server/dist/halyard.js', import.meta.url))

/** The same environment for both, because some settings (such as extra certificates) make Node load more. */
const environment = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' }

/** The first start on a Node version writes its compile cache, which Node 20 does not have. */
const millisecondsMax = (major: number) => (major < 22 ? 1000 : 400)

/** Time from process start to the first correct response, on each supported Node version. */
export const start: Row = async ({ size, installations, peers }) => {
  const own = Number(process.versions.node.split('.')[0])
  const others = ([22, 24] as const).map(major => ({ major, node: peers.node(major) }))
  const results: Figure[] = []
  for (const { major, node } of [
    { major: own, node: process.execPath },
    ...others.filter(({ major }) => major !== own),
  ]) {
    if (node) results.push(...(await startOn(node, major, size, installations)))
  }
  return results
}

async function startOn(node: string, major: number, size: Size, installations: Installations): Promise<Figure[]> {
  const wall: number[] = []
  const cpu: number[] = []
  const bare: number[] = []
  const bareCpu: number[] = []
  const { databaseUrl, token } = await installations.copy(size.manyFlags)
  for (let round = -1; round < size.starts; round++) {
    const alone = await bareStart(node)
    const startedAt = performance.now()
    const port = await freePort()
    const child = spawn(node, [program], {
      env: {
        ...environment,
        DATABASE_URL: databaseUrl,
        PORT: String(port),
        LOG_LEVEL: 'silent',
      },
      stdio: 'ignore',
    })
    await untilCorrect(port, token, size.manyFlags)
    const elapsed = performance.now() - startedAt
    const seconds = cpuSeconds(child.pid!)
    await stopProcess(child)
    // The first round fills the compile cache.
    if (round < 0) continue
    wall.push(elapsed)
    cpu.push(seconds * 1000)
    bare.push(alone.wall)
    bareCpu.push(alone.cpu)
  }
  const name = `start to first correct response, ${size.manyFlags} flags, Node ${major}`
  const ratio = ratios(cpu, bareCpu)
  return [
    { measure: name, value: median(wall), unit: 'ms', spread: spreadOf(wall), atMost: millisecondsMax(major) },
    { measure: `${name}: CPU time`, value: median(cpu), unit: 'ms', spread: spreadOf(cpu) },
    {
      measure: `${name}: CPU time ÷ bare Node`,
      value: median(ratio),
      unit: '×',
      spread: spreadOf(ratio),
      guard: 'more is worse',
    },
    { measure: `start and exit of bare Node ${major}`, value: median(bare), unit: 'ms', spread: spreadOf(bare) },
  ]
}

async function bareStart(node: string): Promise<{ wall: number; cpu: number }> {
  const startedAt = performance.now()
  const report = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))'
  const child = spawn(node, ['-e', report], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
  let cpu = ''
  child.stdout.on('data', chunk => {
    cpu += chunk
  })
  await once(child, 'close')
  return { wall: performance.now() - startedAt, cpu: Number(cpu) }
}

async function untilCorrect(port: number, token: string, flagCount: number): Promise<void> {
  const body = JSON.stringify({ token, distinct_id: 'user' })
  for (let tries = 0; tries < 10_000; tries++) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/flags/?v=2`, { method: 'POST', body })
      const { flags } = (await response.json()) as { flags: object }
      if (Object.keys(flags).length === flagCount) return
    } catch {
      // Not listening yet.
    }
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  throw new Error('The server never returned a correct response.')
}
