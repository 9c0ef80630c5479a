import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { median, ratios, spreadOf } from '../measure.ts'
import { cpuSeconds, freePort, stopProcess } from '../processes.ts'
import type { Row } from '../row.ts'

const program = fileURLToPath(new URL('../../packages/server/dist/halyard.js', import.meta.url))

/** The same environment for both, because some settings (such as extra certificates) make Node load more. */
const environment = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' }

/** Time from process start to the first correct response. */
export const start: Row = async ({ size, installations }) => {
  const wall: number[] = []
  const cpu: number[] = []
  const bare: number[] = []
  const bareCpu: number[] = []
  const { databaseUrl, token } = await installations.copy(size.manyFlags)
  for (let round = 0; round < size.starts; round++) {
    const node = await bareStart()
    bare.push(node.wall)
    bareCpu.push(node.cpu)
    const startedAt = performance.now()
    const port = await freePort()
    const child = spawn(process.execPath, [program], {
      env: {
        ...environment,
        DATABASE_URL: databaseUrl,
        PORT: String(port),
        LOG_LEVEL: 'silent',
      },
      stdio: 'ignore',
    })
    await untilCorrect(port, token, size.manyFlags)
    wall.push(performance.now() - startedAt)
    cpu.push(cpuSeconds(child.pid!) * 1000)
    await stopProcess(child)
  }
  const name = `start to first correct response, ${size.manyFlags} flags`
  const ratio = ratios(cpu, bareCpu)
  return [
    { measure: name, value: median(wall), unit: 'ms', spread: spreadOf(wall), atMost: 400 },
    { measure: `${name}: CPU time`, value: median(cpu), unit: 'ms', spread: spreadOf(cpu) },
    {
      measure: `${name}: CPU time ÷ bare Node`,
      value: median(ratio),
      unit: '×',
      spread: spreadOf(ratio),
      guard: 'more is worse',
    },
    { measure: 'start and exit of bare Node', value: median(bare), unit: 'ms', spread: spreadOf(bare) },
  ]
}

async function bareStart(): Promise<{ wall: number; cpu: number }> {
  const startedAt = performance.now()
  const report = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))'
  const child = spawn(process.execPath, ['-e', report], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
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
