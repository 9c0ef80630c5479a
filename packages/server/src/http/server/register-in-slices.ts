import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'

/**
 * Takes the steps when the application is made ready, one in a turn of the event loop. Hundreds of routes are a good part of a start, and
 * evaluations need none of them: those are answered in between, as soon as the port is open.
 */
export function registerInSlices(steps: readonly (() => void)[]): FastifyPluginAsync {
  const plugin: FastifyPluginAsync = async () => {
    for (const step of steps) {
      await nextTurn()
      step()
    }
  }
  // What Fastify calls a plugin has hooks and routes to itself, unless it carries this mark.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
