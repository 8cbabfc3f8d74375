// Tells Termvisor what opencode is doing: one line for each event that means something, appended to the hooks' spool.
// With the end of a turn it tells how the turn went, and of a sub-agent's session whose it is.
import { appendFileSync } from "fs"

const SPOOL = "@SPOOL@"
const LONGEST = 3500
const parents = {}
const sessions = {}
const turns = {}
const statuses = {}
const summaries = {}

function write(event, payload) {
  const about = { v: 1, agent: "opencode", event, at: Date.now(), pane: process.env.TMUX_PANE || "", tmux: process.env.TMUX || "", pid: process.pid }
  const line = JSON.stringify({ ...about, payload })
  const short = () => JSON.stringify({ ...about, payload: { sessionID: payload.sessionID, parent: payload.parent, id: payload.id } })
  try {
    appendFileSync(SPOOL, (Buffer.byteLength(line) > LONGEST ? short() : line) + "\n")
  } catch {
    // Without Termvisor's folder there is nobody to tell.
  }
}

const TOLD = {
  "session.created": (told) => session(told),
  "session.updated": (told) => session(told),
  "session.status": (told) => {
    const status = JSON.stringify(told.status)
    if (told.status.type === "idle" || statuses[told.sessionID] === status) return null
    if (told.status.type === "busy" && !statuses[told.sessionID]) turns[told.sessionID] = {}
    statuses[told.sessionID] = status
    return told
  },
  "session.idle": (told) => {
    if (!statuses[told.sessionID]) return null
    const last = JSON.parse(statuses[told.sessionID])
    delete statuses[told.sessionID]
    const broken = last.type === "retry" ? { error: { name: "MessageAbortedError", message: last.message } } : {}
    return { ...told, turn: { ...broken, ...turns[told.sessionID] } }
  },
  "session.error": (told) => {
    const error = { name: told.error?.name, message: told.error?.data?.message, status: told.error?.data?.statusCode }
    turns[told.sessionID] = { ...turns[told.sessionID], error }
    return { sessionID: told.sessionID, error }
  },
  "session.compacted": (told) => told,
  "permission.asked": ({ id, sessionID, permission, metadata }) => {
    const { command, filepath } = metadata || {}
    return { id, sessionID, permission, metadata: { command, filepath } }
  },
  "permission.replied": (told) => answered(told, told.reply === "reject"),
  "question.asked": (told) => told,
  "question.replied": (told) => answered(told, false),
  "question.rejected": (told) => answered(told, true),
  "message.updated": (told) => {
    const info = told.info
    if (!info.summary || info.role !== "assistant" || summaries[info.id]) return null
    summaries[info.id] = true
    return { sessionID: info.sessionID, compacting: true }
  },
  "server.instance.disposed": (told) => told,
}

function session({ info }) {
  if (info.parentID) parents[info.id] = info.parentID
  const { title, version, cost, tokens } = info
  const told = { sessionID: info.id, title, version, cost, tokens, model: info.model?.id }
  if (sessions[info.id] === JSON.stringify(told)) return null
  sessions[info.id] = JSON.stringify(told)
  return told
}

function answered(told, rejected) {
  turns[told.sessionID] = { ...turns[told.sessionID], rejected }
  return told
}

export const Termvisor = async ({ serverUrl }) => {
  write("plugin.loaded", { server: String(serverUrl || "") })
  return {
    event: async ({ event }) => {
      const told = TOLD[event.type]?.(event.properties)
      if (told) write(event.type, { ...told, parent: parents[told.sessionID] })
    },
  }
}
