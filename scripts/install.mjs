// Runs `npm ci` and explains a failure in one sentence. Uses nothing but Node and npm: it runs before anything is installed.
import { spawn } from 'node:child_process'

const progressSeconds = 15
const probeSecondsMax = 10

/** Installs from the lock file. Resolves with undefined, or with a sentence that says what went wrong and what to do. */
export async function install(folder, omitDev) {
  const args = ['ci', omitDev ? '--omit=dev' : '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  // Without a network npm would retry for minutes. One quick request shows whether the registry answers at all; when it does not, the
  // packages may still be in npm's cache.
  const probe = await npm(folder, ['view', 'esbuild', 'version', '--fetch-retries=0'], { secondsMax: probeSecondsMax })
  const isOffline = probe.status !== 0 && networkError(probe.output) !== undefined
  const { status, output } = await npm(folder, isOffline ? [...args, '--offline'] : args, { showProgress: true })
  if (status === 0) return undefined
  return explainFailure(isOffline ? probe.output : output)
}

/** One sentence with the cause and what to do, from what npm printed. */
export function explainFailure(output) {
  const network = networkError(output)
  if (network) {
    return `The npm registry cannot be reached (${network}). Check the network, or set the registry or proxy with "npm config set", then run this again.`
  }
  const code = /\bnpm error code (\w+)/.exec(output)?.[1] ?? /\bcode: '(\w+)'/.exec(output)?.[1]
  const explanation = {
    EACCES:
      'npm may not write here (EACCES). Make this folder and npm’s cache belong to your user, then run this again.',
    EPERM: 'npm may not write here (EPERM). Close programs that use this folder, then run this again.',
    ENOSPC: 'The disk is full (ENOSPC). Free some space, then run this again.',
    EUSAGE:
      'package-lock.json does not match package.json (EUSAGE). Restore both with "git checkout", or update the lock file with "npm install".',
    EINTEGRITY:
      'A downloaded package does not match the lock file (EINTEGRITY). Run "npm cache clean --force", then run this again.',
    E401: 'The npm registry asks for a login (E401). Sign in with "npm login", then run this again.',
    E403: 'The npm registry refuses a package (E403). Check the registry set with "npm config get registry".',
    E404: 'The npm registry lacks a package (E404). Check the registry set with "npm config get registry".',
    EBADENGINE: 'This version of Node or npm is too old (EBADENGINE). Install Node 20.19 or newer.',
  }[code]
  return (
    explanation ??
    `npm could not install the packages (${code ?? firstErrorOf(output)}). Run "npm ci" to see its full output.`
  )
}

function networkError(output) {
  return /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/.exec(
    output,
  )?.[1]
}

const firstErrorOf = output => /^npm error (?!code)(.+)$/m.exec(output)?.[1]?.trim() ?? 'unknown cause'

function npm(folder, args, { showProgress = false, secondsMax = Infinity }) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (output += text))
    let seconds = 0
    const timer = setInterval(() => {
      seconds++
      if (showProgress && seconds % progressSeconds === 0) process.stderr.write(`  still installing (${seconds} s) …\n`)
      if (seconds < secondsMax) return
      child.kill()
      end({ status: 1, output: 'ETIMEDOUT' })
    }, 1000)
    const end = result => {
      clearInterval(timer)
      resolve(result)
    }
    child.on('close', status => end({ status, output }))
    child.on('error', error => {
      clearInterval(timer)
      if (error.code === 'ENOENT') resolve({ status: 1, output: 'npm error npm is not installed' })
      else reject(error)
    })
  })
}
