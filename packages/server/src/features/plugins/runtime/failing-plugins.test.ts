import { expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { enablePlugin, pluginEvent, transformEvent } from '../../../testing/enabled-plugins.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('plugins that exceed their limits', dialect => {
  const s = suiteScenario(dialect)

  it.each([
    ['loop without end', 'while (true) {}'],
    ['take all memory', 'const a = []; while (true) a.push(new Array(1000).fill(1))'],
    ['never answer the engine', 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })'],
  ])('are switched off sooner when they %s, and harm no other', async (_name, body) => {
    const bad = await enablePlugin(s, `export const processEvent = e => { ${body} }`, {}, { order: 1 })
    const shout = 'export const processEvent = e => ({ ...e, event: e.event + "!" })'
    const good = await enablePlugin(s, shout, {}, { order: 2 })
    for (let n = 0; n < 3; n += 1) expect((await transformEvent(s, pluginEvent('x')))?.name).toBe('x!')
    await expect.poll(bad.read).toMatchObject({ enabled: false, error: { message: expect.any(String) } })
    expect((await good.read()).enabled).toBe(true)
    await good.off()
  })
})
