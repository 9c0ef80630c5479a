// `npm run dev`: the server, rebuilt and restarted on every change, and the web app with hot reload in front of it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, root, say } from './prepare.mjs'

await ensureInstalled('test')
const { context } = await import('esbuild')
const { createServer } = await import('vite')
const { dist, makeExecutable, serverBundles } = await import('./server-bundle.mjs')

const port = process.env.PORT ?? '8000'
/** Everything that the server responds to; all other paths are pages of the web app. */
const serverPaths =
  '^/(api|docs|flags|decide|batch|capture|e|i|array|static|ofrep|edge|setup|metrics|_livez|_readyz)([/?]|$)'

let server
let restarting = Promise.resolve()
let isStopping = false

function restart() {
  restarting = restarting.then(async () => {
    await stopServer()
    if (isStopping) return
    server = spawn(process.execPath, ['--enable-source-maps', join(dist, 'halyard.js'), 'serve'], {
      stdio: 'inherit',
      env: { ...process.env, PORT: port },
    })
    server.once('exit', code => {
      if (code) say(`The server exited with ${code}. It is started again after the next change.`)
    })
  })
}

function stopServer() {
  if (!server || server.exitCode !== null || server.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    server.once('exit', resolve)
    server.kill('SIGTERM')
  })
}

const restartAfterBuild = {
  name: 'restart',
  setup(build) {
    build.onEnd(({ errors }) => {
      if (errors.length > 0) return
      makeExecutable()
      restart()
    })
  },
}

const bundles = await Promise.all(
  serverBundles.map(options => context({ ...options, minifyWhitespace: false, plugins: [restartAfterBuild] })),
)
await Promise.all(bundles.map(bundle => bundle.watch()))
const web = await createServer({
  configFile: join(root, 'packages/web/vite.config.ts'),
  server: { proxy: { [serverPaths]: { target: `http://127.0.0.1:${port}` } } },
})
await web.listen()
say(
  `Dashboard with hot reload: ${web.resolvedUrls?.local[0] ?? 'see above'}  API: http://127.0.0.1:${port}  Stop: Ctrl-C`,
)

async function stop() {
  if (isStopping) return
  isStopping = true
  await Promise.all([...bundles.map(bundle => bundle.dispose()), web.close(), restarting.then(stopServer)])
  process.exit(0)
}
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
