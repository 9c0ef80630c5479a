import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import type { Program } from '../program/start-program.ts'
import { startWithSdkFlags, storedProperty, valuesOf } from './sdk-flags.ts'

/** The common API of PostHog's libraries for applications with one person. */
interface Library {
  ready?(): Promise<void>
  identify(id: string, properties?: object): void
  setPersonPropertiesForFlags(properties: object, reload?: boolean): void
  reloadFeatureFlagsAsync(): Promise<unknown>
  getFeatureFlags(): Record<string, boolean | string> | undefined
  getFeatureFlag(key: string): boolean | string | undefined
  getFeatureFlagPayload(key: string): unknown
  isFeatureEnabled(key: string): boolean | undefined
  capture(event: string, properties?: object): void
  flush(): Promise<unknown>
  shutdown?(): Promise<void> | void
  shutdownAsync?(): Promise<void>
}
type LibraryClass = new (token: string, options: object) => Library

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Not in the lock file, because its peer dependencies are a whole platform. `HALYARD_TEST_SDKS=all` requires them. */
const mobile = join(root, '.cache/sdks')
const isMobileUsed = process.env.HALYARD_TEST_SDKS === 'all' || existsSync(join(mobile, 'node_modules'))
const mobilePackages = isMobileUsed ? ['posthog-react-native-3', 'posthog-react-native'] : []
const packages = ['posthog-js-lite-2', 'posthog-js-lite-3', 'posthog-js-lite', ...mobilePackages]

onEachPath('unmodified', environment => {
  let s: Program
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'halyard-sdks-'))
    s = await startWithSdkFlags(environment)
  })
  afterAll(async () => {
    await s.close()
    rmSync(folder, { recursive: true, force: true })
  })

  describe.each(packages)('%s', name => {
    it('evaluates flags for each person as the server does, and sends events', async () => {
      if (name === 'posthog-js-lite-2') stubBrowser(s.url)
      const PostHog = await load(name, folder)
      const library = new PostHog(s.projectToken, {
        host: s.url,
        persistence: 'memory',
        flushAt: 1,
        flushInterval: 0,
        preloadFeatureFlags: false,
        captureMode: 'json',
        customStorage: memoryStorage(),
      })
      await library.ready?.()
      for (const [index, id] of ['u1', 'u2', 'a@example.com', 'ü'].entries()) {
        const plan = index % 2 === 0 ? 'pro' : 'free'
        library.setPersonPropertiesForFlags({ plan }, false)
        // Identifying requests the flags too; version 2 then sends no second request.
        library.identify(`${name}-${id}`)
        await library.reloadFeatureFlagsAsync()
        const expected = await valuesOf(s, `${name}-${id}`, plan)
        expect(library.getFeatureFlags()).toEqual(expected)
        expect(library.isFeatureEnabled('pro')).toBe(plan === 'pro')
        expect(library.getFeatureFlag('experiment')).toBe(expected.experiment)
        expect(library.getFeatureFlagPayload('on')).toEqual({ color: 'red' })
      }
      library.capture('ordered', { amount: 5, $set: { learned: name } })
      await library.flush()
      await (library.shutdownAsync?.() ?? library.shutdown?.())
      vi.unstubAllGlobals()
      await expect.poll(() => storedProperty(s, `${name}-ü`, 'learned')).toBe(name)
    })
  })
})

/** Version 2 runs only where there is one. */
function stubBrowser(href: string): void {
  const location = { href, host: '', pathname: '/' }
  vi.stubGlobal('window', { location, fetch })
  vi.stubGlobal('document', { cookie: '' })
  for (const name of ['localStorage', 'sessionStorage']) vi.stubGlobal(name, memoryStorage())
}

const memoryStorage = () => {
  const items = new Map<string, string>()
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}

/** A library for React Native is bundled as Metro would, with the parts of the platform that it asks for. */
async function load(name: string, folder: string): Promise<LibraryClass> {
  if (!mobilePackages.includes(name)) return (require(name) as { PostHog: LibraryClass }).PostHog
  const outfile = join(folder, `${name}.cjs`)
  await build({
    stdin: { contents: `export { PostHog } from '${name}'`, resolveDir: mobile },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    logLevel: 'error',
    loader: { '.js': 'jsx' },
    plugins: [
      {
        name: 'platform',
        setup(bundling) {
          bundling.onResolve({ filter: /^react-native(?:-svg)?$/ }, ({ path }) => ({ path, namespace: 'platform' }))
          bundling.onLoad({ filter: /.*/, namespace: 'platform' }, () => ({ contents: platform }))
          // Optional: the library works without them, as in an application that has not installed them.
          bundling.onResolve(
            { filter: /^(?:expo|@react-n|react-native-|@posthog\/react-native-plugin|posthog-react-native-session)/ },
            ({ path }) => ({ path, external: true }),
          )
        },
      },
    ],
  })
  return (require(outfile) as { PostHog: LibraryClass }).PostHog
}

const platform = `
  const listening = { addEventListener: () => ({ remove() {} }) }
  exports.Platform = { OS: 'ios', Version: '18', select: values => values.ios ?? values.default }
  exports.AppState = { currentState: 'active', ...listening }
  exports.Linking = { getInitialURL: async () => null, ...listening }
  exports.Dimensions = { get: () => ({ width: 390, height: 844 }), ...listening }
  exports.NativeModules = {}
  exports.StyleSheet = { create: styles => styles, flatten: style => style }
`
