import type { SandboxProgram } from '../../../sandbox/sandbox.ts'
import { cryptoGuest } from './crypto-guest.ts'
import { dispatchGuest } from './dispatch-guest.ts'
import { fetchGuest } from './fetch-guest.ts'
import { globalsGuest } from './globals-guest.ts'
import type { GuestFunction } from './guest-environment.ts'
import { metaGuest } from './meta-guest.ts'
import { urlGuest } from './url-guest.ts'

/** The modules that a plugin can import besides its own files. */
export const availableModules: ReadonlySet<string> = new Set([
  '@posthog/plugin-scaffold',
  'crypto',
  'node-fetch',
  'node:crypto',
  'node:url',
  'url',
])

/** Top-level names that count as exports when the plugin exports nothing. */
const topLevelNames = [
  'setupPlugin',
  'teardownPlugin',
  'onEvent',
  'processEvent',
  'processEventBatch',
  'composeWebhook',
  'getSettings',
  'onFlagChange',
  'beforeFlagSave',
  'runEveryMinute',
  'runEveryHour',
  'runEveryDay',
  'jobs',
]

/** The scripts that set up a realm's environment, around the plugin's compiled code. */
export function pluginProgram(name: string, code: string): SandboxProgram {
  const parts: GuestFunction[] = [urlGuest, globalsGuest, fetchGuest, cryptoGuest, metaGuest]
  const topLevel = topLevelNames.map(method => `${method}: typeof ${method} === 'undefined' ? undefined : ${method}`)
  return {
    name,
    scripts: [
      { fileName: 'halyard.js', text: `globalThis.halyard = { modules: {} }; ${parts.map(invoke).join(';')}` },
      {
        fileName: 'plugin.js',
        text: `halyard.plugin = function (module, exports, require) {${code}\n;return { ${topLevel.join(', ')} } }`,
      },
      {
        fileName: 'halyard.js',
        text: `(environment => { const hostFunctions = host; delete globalThis.host; delete globalThis.halyard; return (${String(dispatchGuest)})(hostFunctions, environment) })(halyard)`,
      },
    ],
  }
}

const invoke = (part: GuestFunction): string => `(${String(part)})(host, halyard)`
