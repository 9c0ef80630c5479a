import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { median, ratios, spreadOf } from '../measure.ts'
import { cpuSeconds, freePort, stopProcess } from '../processes.ts'
import type { Row } from '../row.ts'

const program = fileURLToPath(new URL('../../packages/server/dist/halyard.js', import.meta.url))

/** The same for both: what an environment makes Node load (other certificates, say) is no part of what Halyard takes. */
const environment = { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' }

/** From the start of the process to the first right answer, with nothing in memory. */
export const start: Row = async ({ size, installations }) => {
  const wall: number[] = []
  const cpu: number[] = []
  const bare: number[] = []
  const bareCpu: number[] = []
  const { databaseUrl, token } = await installations.copy(size.manyFlags)
  for (let turn = 0; turn < size.starts; turn++) {
    const alone = await bareStart()
    bare.push(alone.wall)
    bareCpu.push(alone.cpu)
    const begun = performance.now()
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
    await untilRight(port, token, size.manyFlags)
    wall.push(performance.now() - begun)
    cpu.push(cpuSeconds(child.pid!) * 1000)
    await stopProcess(child)
  }
  const name = `start to first right answer, ${size.manyFlags} flags`
  const share = ratios(cpu, bareCpu)
  return [
    { measure: name, value: median(wall), unit: 'ms', spread: spreadOf(wall), atMost: 400 },
    { measure: `${name}: processor time`, value: median(cpu), unit: 'ms', spread: spreadOf(cpu) },
    {
      measure: `${name}: processor time ÷ that of Node alone`,
      value: median(share),
      unit: '×',
      spread: spreadOf(share),
      guard: 'more is worse',
    },
    { measure: 'start and end of Node alone', value: median(bare), unit: 'ms', spread: spreadOf(bare) },
  ]
}

async function bareStart(): Promise<{ wall: number; cpu: number }> {
  const begun = performance.now()
  const report = 'const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000))'
  const child = spawn(process.execPath, ['-e', report], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
  let cpu = ''
  child.stdout.on('data', chunk => {
    cpu += chunk
  })
  await once(child, 'close')
  return { wall: performance.now() - begun, cpu: Number(cpu) }
}

async function untilRight(port: number, token: string, flagCount: number): Promise<void> {
  const body = JSON.stringify({ token, distinct_id: 'somebody' })
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
  throw new Error('The server never gave the right answer.')
}
