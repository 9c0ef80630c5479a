import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packagedChromium from '@sparticuz/chromium'

/**
 * The packaged browser is unpacked on first use. Concurrent test files would find a file that is still being written (ETXTBSY), so it is
 * unpacked once before the tests.
 */
export default async function setup(): Promise<void> {
  // Elsewhere there is no packaged browser.
  if (process.platform === 'linux' && !existsSync(join(tmpdir(), 'chromium'))) await packagedChromium.executablePath()
}
