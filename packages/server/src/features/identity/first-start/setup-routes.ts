import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PageFonts } from '../../../http/web-app/web-app-files.ts'
import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import type { FirstCredentials } from './first-credentials.ts'

/** `/setup?token=…`: the first person chooses the owner's password. A form without scripts, which needs no built dashboard. */
export function serveSetup(
  app: FastifyInstance,
  credentials: FirstCredentials,
  fonts: (() => PageFonts) | undefined,
  now: () => Instant,
): void {
  const send = (reply: FastifyReply, status: number, page: Page): FastifyReply => {
    const { preload, faces } = fonts?.() ?? { preload: '', faces: '' }
    const allStyle = faces + style
    return reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policyFor(allStyle))
      .send(html(page, `${preload}<style>${allStyle}</style>`))
  }
  app.get<{ Querystring: { token?: unknown } }>('/setup', async (request, reply) => {
    const pending = await credentials.find()
    const token = String(request.query.token ?? '')
    // The token is checked when the form is submitted, so this page reveals nothing.
    if (!pending?.setupToken || token === '') return send(reply, 404, usedPage)
    return send(reply, 200, formPage(token))
  })

  app.post('/setup', async (request, reply) => {
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')
    const token = form.get('token') ?? ''
    const password = form.get('password') ?? ''
    if (password !== form.get('repeated')) return send(reply, 400, formPage(token, 'The two passwords differ.'))
    try {
      const email = await credentials.choosePassword(token, password, now())
      return email === undefined ? send(reply, 404, usedPage) : send(reply, 200, donePage(email))
    } catch (error) {
      if (!(error instanceof Problem) || error.kind !== 'invalid') throw error
      return send(reply, 400, formPage(token, error.message))
    }
  })
}

/** The look of the sign-in page. */
const style = `body{font:14px/1.55 "Inter Variable",system-ui,sans-serif;max-width:23rem;margin:18vh auto 2rem;padding:0 1rem;color:#000;background:#fff}
svg{display:block;margin:0 auto}h1{margin:1rem 0;font-size:1.375rem;font-weight:600;text-align:center}
section{padding:.5rem 1.25rem 1.25rem;border:1px solid #e6e8eb;border-radius:16px}
label,input,button{display:block;width:100%;box-sizing:border-box;font:inherit}label{margin-top:1rem;font-weight:600}
input{padding:.4rem .75rem;border:1px solid #868e96;border-radius:8px;background:#fff;color:inherit}
button{margin-top:1.5rem;padding:.5rem;border:0;border-radius:8px;background:#4263eb;color:#fff;font-weight:600;cursor:pointer}
:focus-visible{outline:2px solid #3b5bdb;outline-offset:2px}
[role=alert]{color:#c92a2a}a{color:#3b5bdb}code{font-family:"IBM Plex Mono",ui-monospace,monospace;background:#f1f3f6;padding:0 .2em}
@media(prefers-color-scheme:dark){body{background:#17181b;color:#c9c9c9}section{border-color:#2c2e33}
code{background:#2a2c32}a{color:#748ffc}button{background:#3b5bdb}:focus-visible{outline-color:#91a7ff}
[role=alert]{color:#ff8787}input{background:#25262b;border-color:#696969}}`

const logo = `<svg width="40" height="40" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4263eb"/>
<path d="M10 26V6M10 7.5l13 4.5-13 5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const policyFor = (style: string): string =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

interface Page {
  readonly title: string
  readonly content: string
}

const html = ({ title, content }: Page, head: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Halyard</title>${head}</head><body><main>${logo}<h1>${title}</h1><section>${content}</section></main></body></html>
`

const formPage = (token: string, problem?: string): Page => ({
  title: 'Set up Halyard',
  content: `<p>Choose a password for the first owner. This link works once.</p>
${problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`}
<form method="post" action="/setup"><input type="hidden" name="token" value="${escapeHtml(token)}">
<label for="password">Password</label><input id="password" name="password" type="password" minlength="8" required autocomplete="new-password">
<label for="repeated">Repeat the password</label><input id="repeated" name="repeated" type="password" minlength="8" required autocomplete="new-password">
<button type="submit">Set password</button></form>`,
})

const donePage = (email: string): Page => ({
  title: 'Password set',
  content: `<p>Sign in as <strong>${escapeHtml(email)}</strong> with your new password.</p><p><a href="/login">Sign in</a></p>`,
})

const usedPage: Page = {
  title: 'Link not valid',
  content: `<p>This setup link is wrong or has been used.</p>
<p><a href="/login">Sign in</a>, or set a new password on the server: <code>halyard users reset-password --email …</code></p>`,
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character] ?? '')
