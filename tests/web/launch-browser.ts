import { existsSync } from 'node:fs'
import packagedChromium from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

const systemBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export async function launch(): Promise<Browser> {
  const executablePath = systemBrowsers.find(path => existsSync(path)) ?? (await packagedChromium.executablePath())
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
