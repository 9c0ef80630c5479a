// `npm run test:clickhouse [-- --install] [-- replicated | current]`: the tests of what is counted, against real servers. `npm test` needs none of this.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, say } from './prepare.mjs'

const folder = process.env.HALYARD_CLICKHOUSE_FOLDER ?? join(homedir(), '.cache', 'halyard-clickhouse')
const packages = ['clickhouse-server', 'zookeeper', 'default-jre-headless']
const lanes = {
  replicated: {
    isInstalled: () =>
      [join(folder, 'debian'), '/'].some(
        at =>
          ['usr/sbin', 'usr/bin'].some(bin => existsSync(join(at, bin, 'clickhouse-server'))) &&
          existsSync(join(at, 'usr/share/java/zookeeper.jar')),
      ),
    install: installServers,
    what: "Debian's clickhouse-server 18.16 as two replicas with ZooKeeper (Debian 12, x64; about 60 MB)",
  },
  current: {
    isInstalled: () => existsSync(join(folder, 'chdb/node_modules/chdb')),
    install: installChdb,
    what: 'the engine of today from the npm package chdb 3.4 (Linux x64; 546 MB)',
  },
}

await ensureInstalled('test')

const args = process.argv.slice(2)
const chosen = args.filter(argument => argument in lanes)
const files = args.filter(argument => !(argument in lanes) && argument !== '--install')
const names = chosen.length > 0 ? chosen : Object.keys(lanes)
if (args.includes('--install')) for (const name of names) lanes[name].isInstalled() || lanes[name].install()
const installed = names.filter(name => lanes[name].isInstalled())
for (const name of names) {
  if (!installed.includes(name)) say(`Left out, not installed: ${name}, ${lanes[name].what}.`)
}
if (installed.length < names.length) say(`To get them into ${folder}: npm run test:clickhouse -- --install`)
if (installed.length === 0) process.exit(1)

ensureBuilt()
let failed = installed.length < names.length && chosen.length > 0
for (const name of installed) {
  say(`ClickHouse, ${name}: ${lanes[name].what}.`)
  const { status } = spawnSync(
    join(root, 'node_modules', '.bin', 'vitest'),
    ['run', '--project=clickhouse', '--maxWorkers=1', ...files],
    { cwd: root, stdio: 'inherit', env: { ...process.env, TZ: 'UTC', TEST_CLICKHOUSE: name } },
  )
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)

/** Unpacks the packages and their libraries without installing them. */
function installServers() {
  const archives = join(folder, 'archives')
  mkdirSync(join(archives, 'partial'), { recursive: true })
  const download = ['install', '--yes', '--no-install-recommends', '--download-only', '--reinstall']
  run('apt-get', [...download, '-o', `Dir::Cache::archives=${archives}`, '-o', 'Debug::NoLocking=1', ...packages])
  mkdirSync(join(folder, 'debian'), { recursive: true })
  for (const name of readdirSync(archives).filter(file => file.endsWith('.deb'))) {
    run('dpkg', ['-x', join(archives, name), join(folder, 'debian')])
  }
  const java = spawnSync('java', ['-version'])
  if (java.status !== 0) say('ZooKeeper needs Java: apt-get install default-jre-headless')
}

function installChdb() {
  mkdirSync(join(folder, 'chdb'), { recursive: true })
  run('npm', ['install', '--prefix', join(folder, 'chdb'), '--no-audit', '--no-fund', 'chdb@3.4.0'])
}

function run(command, parameters) {
  const { status, error } = spawnSync(command, parameters, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status === 0) return
  say(
    `${command} ${parameters.join(' ')} failed${error ? `: ${error.message}` : ''}. Run apt-get update first, as root.`,
  )
  process.exit(1)
}
