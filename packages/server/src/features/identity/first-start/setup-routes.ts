import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { PageFonts } from '../../../http/web-app/web-app-files.ts'
import type { Instant } from '../../../instant.ts'
import { openSession } from '../sign-in/open-session.ts'
import { refreshCookie } from '../sign-in/sign-in-cookie.ts'
import type { FirstCredentials, SetUpField, SetUpFields } from './first-credentials.ts'

/** `/setup?token=…`: the first person names themselves and the project, and is signed in. Works without scripts. */
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
    const texts = textsFor(request.headers)
    const pending = await credentials.find()
    const token = String(request.query.token ?? '')
    // The token is checked when the form is submitted, so this page reveals nothing.
    if (!pending?.setupToken || token === '') return send(reply, 404, usedPage(texts))
    return send(reply, 200, formPage(texts, token, blank))
  })

  app.post('/setup', async (request, reply) => {
    const texts = textsFor(request.headers)
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '')
    const token = form.get('token') ?? ''
    const chosen: SetUpFields = {
      firstName: form.get('first_name')?.trim() ?? '',
      email: form.get('email')?.trim() ?? '',
      password: form.get('password') ?? '',
      projectName: form.get('project')?.trim() ?? '',
    }
    const origin = { userAgent: request.headers['user-agent'] ?? '', address: request.ip }
    const result = await credentials.setUp(token, chosen, now(), async (tx, owner) => ({
      projectId: owner.currentProjectId,
      // Remembered: the cookie is how the dashboard, which this page is not part of, gets the session.
      session: await openSession(tx, owner, { method: 'password', origin, isRemembered: true }, now()),
    }))
    if (!result) return send(reply, 404, usedPage(texts))
    if ('wrong' in result) return send(reply, 400, formPage(texts, token, chosen, result.wrong))
    const { projectId, session } = result.done
    return reply
      .code(303)
      .header('set-cookie', refreshCookie(session.refreshToken ?? '', new URL(`${request.protocol}://localhost`)))
      .header('location', `${projectId === null ? '/' : `/project/${projectId}`}#signed-in`)
      .send()
  })
}

/** The look of the sign-in page. */
const style = `body{font:14px/1.55 "Inter Variable",system-ui,sans-serif;max-width:23rem;margin:10vh auto 2rem;padding:0 1rem;color:#000;background:#fff}
svg{display:block;margin:0 auto}h1{margin:1rem 0;font-size:1.375rem;font-weight:600;text-align:center}
section{padding:.5rem 1.25rem 1.25rem;border:1px solid #e6e8eb;border-radius:16px}
label,input,button{display:block;width:100%;box-sizing:border-box;font:inherit}label{margin-top:1rem;font-weight:600}small{display:block;color:#5c636a}[aria-invalid]{border-color:#c92a2a}
input{margin-top:.3rem;padding:.4rem .75rem;border:1px solid #868e96;border-radius:8px;background:#fff;color:inherit}
button{margin-top:1.5rem;padding:.5rem;border:0;border-radius:8px;background:#4263eb;color:#fff;font-weight:600;cursor:pointer}
:focus-visible{outline:2px solid #3b5bdb;outline-offset:2px}
[role=alert]{color:#c92a2a;margin:.25rem 0 0}a{color:#3b5bdb}code{font-family:"IBM Plex Mono",ui-monospace,monospace;background:#f1f3f6;padding:0 .2em}
@media(pointer:coarse){input{font-size:1rem}}
@media(prefers-color-scheme:dark){body{background:#17181b;color:#c9c9c9}section{border-color:#2c2e33}
code{background:#2a2c32}a{color:#748ffc}button{background:#3b5bdb}:focus-visible{outline-color:#91a7ff}
small{color:#a6a7ab}[role=alert]{color:#ff8787}input{background:#25262b;border-color:#696969}}`

const logo = `<svg width="40" height="40" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4263eb"/>
<path d="M10 26V6M10 7.5l13 4.5-13 5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/**
 * Sends the form in the background and shows the page of the response with the password, which stays in memory: the server never
 * sends it back. Without scripts the browser sends the form itself, and the password is entered again after an error.
 */
const script = `let isBusy=false
document.addEventListener('submit',async event=>{
event.preventDefault()
if(isBusy)return
isBusy=true
const form=event.target
try{
const response=await fetch(form.action,{method:'POST',body:new URLSearchParams(new FormData(form))})
if(response.redirected)return location.replace(response.url+'#signed-in')
const page=new DOMParser().parseFromString(await response.text(),'text/html'),field=page.querySelector('#password')
if(field)field.value=form.password.value
document.querySelector('main').replaceWith(page.querySelector('main'))
document.querySelector('[autofocus]')?.focus()
}catch{form.submit()}
isBusy=false
})`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const policyFor = (style: string): string =>
  `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

interface Page {
  readonly language: 'en' | 'de'
  readonly title: string
  readonly content: string
}

const html = ({ title, language, content }: Page, head: string): string => `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Halyard</title>${head}<script>${script}</script></head><body><main>${logo}<h1>${title}</h1><section>${content}</section></main></body></html>
`

const blank: SetUpFields = { firstName: '', email: '', password: '', projectName: '' }

/** The first field, or the first wrong one, has the focus. Nothing is checked by the browser: its bubbles speak another language. */
function formPage(texts: Texts, token: string, entered: SetUpFields, wrong: readonly SetUpField[] = []): Page {
  const focused = wrong[0] ?? 'first_name'
  const field = (name: SetUpField, value: string, attributes: string): string => {
    const { label, hint, problem } = texts.fields[name]
    const isWrong = wrong.includes(name)
    return `<label for="${name}">${label}</label>${hint === '' ? '' : `<small id="${name}-hint">${hint}</small>`}
<input id="${name}" name="${name}" value="${escapeHtml(value)}" ${attributes}${hint === '' && !isWrong ? '' : ` aria-describedby="${hint === '' ? '' : `${name}-hint `}${isWrong ? `${name}-problem` : ''}"`}${isWrong ? ' aria-invalid="true"' : ''}${name === focused ? ' autofocus' : ''}>
${isWrong ? `<p role="alert" id="${name}-problem">${problem}</p>` : ''}`
  }
  return {
    title: texts.title,
    language: texts.language,
    content: `<p>${texts.intro}</p>
<form method="post" action="/setup" novalidate><input type="hidden" name="token" value="${escapeHtml(token)}">
${field('first_name', entered.firstName, 'autocomplete="name"')}
${field('email', entered.email, 'type="email" autocomplete="username"')}
${field('password', '', 'type="password" autocomplete="new-password"')}
${field('project', entered.projectName, 'autocomplete="off"')}
<button type="submit">${texts.submit}</button></form>`,
  }
}

const usedPage = (texts: Texts): Page => ({
  title: texts.usedTitle,
  language: texts.language,
  content: `<p>${texts.used}</p>
<p><a href="/login">${texts.signIn}</a>${texts.orReset} <code>halyard users reset-password --email …</code></p>`,
})

interface FieldTexts {
  readonly label: string
  readonly hint: string
  readonly problem: string
}

interface Texts {
  readonly language: 'en' | 'de'
  readonly title: string
  readonly intro: string
  readonly fields: Readonly<Record<SetUpField, FieldTexts>>
  readonly submit: string
  readonly usedTitle: string
  readonly used: string
  readonly signIn: string
  readonly orReset: string
}

const english: Texts = {
  language: 'en',
  title: 'Set up Halyard',
  intro: 'Create the first account. This link works once.',
  fields: {
    first_name: { label: 'Name', hint: '', problem: 'Enter your name.' },
    email: {
      label: 'Email',
      hint: 'You sign in with it.',
      problem: 'Enter an email address, such as you@example.com.',
    },
    password: { label: 'Password', hint: 'At least 8 characters', problem: 'Use at least 8 characters.' },
    project: {
      label: 'Project name',
      hint: 'Such as your app or website',
      problem: 'Enter a name of up to 64 characters.',
    },
  },
  submit: 'Create account',
  usedTitle: 'Link not valid',
  used: 'This setup link is wrong or has been used.',
  signIn: 'Sign in',
  orReset: ', or set a new password on the server:',
}

const german: Texts = {
  language: 'de',
  title: 'Halyard einrichten',
  intro: 'Erstelle das erste Konto. Dieser Link gilt einmal.',
  fields: {
    first_name: { label: 'Name', hint: '', problem: 'Gib deinen Namen ein.' },
    email: {
      label: 'Mailadresse',
      hint: 'Damit meldest du dich an.',
      problem: 'Gib eine Mailadresse ein, etwa du@example.com.',
    },
    password: { label: 'Passwort', hint: 'Mindestens 8 Zeichen', problem: 'Verwende mindestens 8 Zeichen.' },
    project: {
      label: 'Projektname',
      hint: 'Etwa deine App oder Website',
      problem: 'Gib einen Namen mit höchstens 64 Zeichen ein.',
    },
  },
  submit: 'Konto erstellen',
  usedTitle: 'Link nicht gültig',
  used: 'Dieser Einrichtungslink ist falsch oder wurde schon verwendet.',
  signIn: 'Anmelden',
  orReset: ', oder setze auf dem Server ein neues Passwort:',
}

const textsFor = (headers: IncomingHttpHeaders): Texts =>
  /^de\b/i.test(headers['accept-language'] ?? '') ? german : english

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => escapes[character] ?? '')
