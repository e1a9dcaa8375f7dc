; The setup of Fleetdeck for Windows, for one person and without an administrator: makensis, by `make windows-installer`.
;
;   setup.exe          with windows             setup.exe /S       silent            setup.exe /S /D=C:\Fleetdeck   another folder
;
; An update takes the place of what was there. Configuration, data and logs (%LOCALAPPDATA%\fleetdeck) are never touched,
; neither by an update nor by the removal.
Target amd64-unicode
Unicode true
!define MUI_ICON "${STAGE}/fleetdeck.ico"
!define MUI_UNICON "${STAGE}/fleetdeck.ico"
!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "Win\COM.nsh"
!include "Win\Propkey.nsh"
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Fleetdeck"
; as services/desktop/registry.py has them
!define LINKS "Software\Classes\fleetdeck"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!ifdef SIGN
  !uninstfinalize '${SIGN} "%1"'
!endif

Name "Fleetdeck"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Fleetdeck"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
RequestExecutionLevel user
SetCompressor ${COMPRESSOR}
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Fleetdeck"
VIAddVersionKey "FileDescription" "Fleetdeck setup"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "Apache-2.0"

!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"
LangString RUNS ${LANG_ENGLISH} "Fleetdeck runs. Close its windows and workers, then start the setup again."
LangString RUNS ${LANG_SIMPCHINESE} "Fleetdeck 正在运行。请关闭它的窗口和执行节点，然后重新运行安装程序。"

; A folder can be renamed only while nothing in it is open: that tells whether the program runs, and keeps it whole.
!macro TAKE_AWAY
  RMDir /r "$INSTDIR\before"
  IfFileExists "$INSTDIR\program\*.*" 0 +6
    ClearErrors
    Rename "$INSTDIR\program" "$INSTDIR\before"
    IfErrors 0 +3
      SetErrorLevel 3
      Abort "$(RUNS)"
!macroend

; as much of the beginning of $0 as $1 says, without a quotation mark before it
!macro BEGINS UN
Function ${UN}Begins
  StrCpy $2 $0 1
  StrCmp $2 '"' 0 +2
    StrCpy $0 $0 "" 1
  StrCpy $0 $0 $1
FunctionEnd
!macroend
!insertmacro BEGINS ""
!insertmacro BEGINS "un."

; The windows belong to this shortcut (console/application.py says the same name), not to Python: one button and one icon in
; the taskbar, also where it is pinned. A shortcut that cannot be given the name still starts the program.
Function NameShortcut
  !insertmacro ComHlpr_CreateInProcInstance ${CLSID_ShellLink} ${IID_IShellLink} r0 ""
  ${If} $0 P<> 0
    ${IUnknown::QueryInterface} $0 '("${IID_IPersistFile}",.r1)'
    ${If} $1 P<> 0
      ${IPersistFile::Load} $1 '("$SMPROGRAMS\Fleetdeck.lnk",${STGM_READWRITE})'
      ${IUnknown::QueryInterface} $0 '("${IID_IPropertyStore}",.r2)'
      ${If} $2 P<> 0
        System::Call '*${SYSSTRUCT_PROPERTYKEY}(${PKEY_AppUserModel_ID})p.r3'
        System::Call '*(&w16 "Fleetdeck")p.r4'
        System::Call '*(&i2 ${VT_LPWSTR},&i6 0,p r4,p 0)p.r5'
        ${IPropertyStore::SetValue} $2 '($3,$5)'
        ${IPropertyStore::Commit} $2 ""
        System::Free $5
        System::Free $4
        System::Free $3
        ${IUnknown::Release} $2 ""
        ${IPersistFile::Save} $1 '("$SMPROGRAMS\Fleetdeck.lnk",1)'
      ${EndIf}
      ${IUnknown::Release} $1 ""
    ${EndIf}
    ${IUnknown::Release} $0 ""
  ${EndIf}
FunctionEnd

Section
  SetOutPath "$INSTDIR"
  !insertmacro TAKE_AWAY
  SetOutPath "$INSTDIR\program"
  File /r "${STAGE}/program/*"
  SetOutPath "$INSTDIR"
  File "${STAGE}/fleetdeck.cmd"
  File "${STAGE}/fleetdeck.ico"
  RMDir /r "$INSTDIR\before"
  CreateDirectory "$INSTDIR\handlers"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  SetOutPath "$INSTDIR\program\app"  ; where the shortcut starts it
  CreateShortcut "$SMPROGRAMS\Fleetdeck.lnk" "$INSTDIR\program\python\pythonw.exe" '"$INSTDIR\program\app\main.py"' "$INSTDIR\fleetdeck.ico"
  Call NameShortcut
  ; links when it comes new; an update leaves what somebody chose: nothing, or another program
  ReadRegStr $0 HKCU "${KEY}" "InstallLocation"
  StrCmp $0 "" links
  StrLen $1 "$INSTDIR\"
  ReadRegStr $0 HKCU "${LINKS}\shell\open\command" ""
  Call Begins
  StrCmp $0 "$INSTDIR\" links linked
links:
  WriteRegStr HKCU "${LINKS}" "" "URL:Fleetdeck"
  WriteRegStr HKCU "${LINKS}" "URL Protocol" ""
  WriteRegStr HKCU "${LINKS}\shell\open\command" "" '"$INSTDIR\program\python\pythonw.exe" "$INSTDIR\program\app\main.py" "%1"'
linked:
  WriteRegStr HKCU "${KEY}" "DisplayName" "Fleetdeck"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\fleetdeck.ico"
  WriteRegStr HKCU "${KEY}" "Publisher" "Fleetdeck"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  SetOutPath "$TEMP"
  !insertmacro TAKE_AWAY
  RMDir /r "$INSTDIR\before"
  Delete "$INSTDIR\fleetdeck.cmd"
  Delete "$INSTDIR\fleetdeck.ico"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR\handlers"  ; only where nobody has put anything into it
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Fleetdeck.lnk"
  ; links and the log-in only where they start what is removed: quoted, and at the log-in perhaps not
  StrLen $1 "$INSTDIR\"
  ReadRegStr $0 HKCU "${LINKS}\shell\open\command" ""
  Call un.Begins
  StrCmp $0 "$INSTDIR\" 0 +2
    DeleteRegKey HKCU "${LINKS}"
  ReadRegStr $0 HKCU "${RUN}" "Fleetdeck"
  Call un.Begins
  StrCmp $0 "$INSTDIR\" 0 +2
    DeleteRegValue HKCU "${RUN}" "Fleetdeck"
  DeleteRegKey HKCU "${KEY}"
SectionEnd
